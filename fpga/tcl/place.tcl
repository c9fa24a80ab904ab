proc step_place {} {
    global results
    opt_design
    place_design -directive Explore
    phys_opt_design -directive AggressiveExplore
    write_checkpoint -force [file join $results place.dcp]
}
