# The image of a Versal device: it has the configuration of CPM5 and of the platform controller, too.
proc step_image {} {
    global results
    write_device_image -force [file join $results openstellar.pdi]
}
