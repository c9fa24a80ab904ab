# Stands in for Vivado in tclsh: every command that the project's scripts may use is recorded on a line `> name arguments`. Another one is an error, and so
# is a file that does not exist. `slack` is what get_timing_paths finds. Four nets are wide: net1 is driven by a register, net2 by a LUT, net3 by a memory, net4
# by a multiplexer, of which opt_design makes a LUT if it is asked to.
#
# Cells of a block design have the pins that somebody connects; each of them once, but for outputs. CPM5 takes all settings but those in $refuses, an environment variable.
#
# tclsh vivado.tcl BUILD.TCL SLACK [STEP]
set script [lindex $argv 0]
set slack [lindex $argv 1]
set argv [lrange $argv 2 end]

proc record {name arguments} {
    puts "> $name [regsub -all {\s*\n\s*} $arguments { }]"
}
foreach name {
    set_msg_config create_project generate_target synth_ip synth_design place_design phys_opt_design route_design
    write_checkpoint write_bitstream write_cfgmem write_device_image assign_bd_address validate_bd_design save_bd_design report_utilization report_timing_summary report_clock_interaction report_cdc report_bus_skew
    report_methodology report_high_fanout_nets report_drc report_power get_timing_paths
} {
    proc $name args "record $name \$args"
}
set remapped {}
set muxes {cell4 MUXF8}
proc opt_design args {
    record opt_design $args
    foreach cell $::remapped {
        dict set ::muxes $cell LUT3
    }
}
proc set_property args {
    record set_property $args
    if {[lindex $args 0] eq "-dict" && [dict exists [lindex $args 1] CONFIG.CPM_CONFIG]} {
        set ::cpm_config [dict get [lindex $args 1] CONFIG.CPM_CONFIG]
    }
    if {[lindex $args 0] eq "MUXF_REMAP"} {
        lappend ::remapped [lindex $args 2]
    }
}
proc get_ips names {
    global ips
    foreach name $names {
        if {![info exists ips($name)]} {
            error "there is no IP $name"
        }
    }
    return $names
}
proc create_ip args {
    global ips
    set ips([dict get $args -module_name]) 1
    record create_ip $args
}
proc current_project {} {
    return project
}
proc get_drc_checks {quiet names} {
    return $names
}
# Objects are numbers behind their kind: pin1 is the pin that drives net1, of cell1.
proc get_nets args {
    if {[set place [lsearch -exact $args -of_objects]] >= 0} {
        return [string map {pin net} [lindex $args $place+1]]
    }
    record get_nets $args
    return {net1 net2 net3 net4}
}
proc get_pins args {
    return [string map {net pin} [lindex $args [lsearch -exact $args -of_objects]+1]]
}
proc get_cells {of_objects pin} {
    return [string map {pin cell} $pin]
}
# Block designs: ports, cells, and what is connected.
proc create_bd_design args {
    record create_bd_design $args
    set ::bd [lindex $args end]
}
proc get_files name {
    if {![info exists ::bd] || $name ne "$::bd.bd"} {
        error "there is no file $name"
    }
    return $name
}
proc once {kind name} {
    if {[info exists ::made($kind,$name)]} {
        error "$kind $name exists"
    }
    set ::made($kind,$name) 1
}
proc there_is {kind name} {
    if {![info exists ::made($kind,$name)]} {
        error "there is no $kind $name"
    }
    return $name
}
proc create_bd_cell args {
    record create_bd_cell $args
    once cell [lindex $args end]
}
proc create_bd_port args {
    record create_bd_port $args
    once port [lindex $args end]
}
proc create_bd_intf_port args {
    record create_bd_intf_port $args
    once interface [lindex $args end]
}
proc get_bd_cells name {
    return [there_is cell $name]
}
proc get_bd_ports name {
    return [there_is port $name]
}
proc get_bd_intf_ports name {
    return [there_is interface $name]
}
proc get_bd_pins name {
    there_is cell [file dirname $name]
    return $name
}
proc get_bd_intf_pins name {
    there_is cell [file dirname $name]
    return $name
}
# The first object may drive several nets of this list; every other one is an input of one net, or a port.
proc connect_bd_net args {
    record connect_bd_net $args
    foreach object [lrange $args 1 end] {
        once "connection of" $object
    }
}
proc connect_bd_intf_net {one other} {
    record connect_bd_intf_net [list $one $other]
    once "connection of" $one
    once "connection of" $other
}
proc get_property {name object} {
    if {$name eq "CONFIG.CPM_CONFIG"} {
        set refused [expr {[info exists ::env(refuses)] ? $::env(refuses) : {}}]
        return [dict remove $::cpm_config {*}$refused]
    }
    if {$name eq "REF_NAME"} {
        return [dict get [dict merge {cell1 FDRE cell2 LUT6 cell3 RAMB36E2} $::muxes] $object]
    }
    return $::slack
}
foreach name {read_verilog read_xdc} {
    proc $name file "if {!\[file isfile \$file\]} {error \"\$file does not exist\"}; record $name \[list \[file tail \$file\]\]"
}
source $script
