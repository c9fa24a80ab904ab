# Stands in for Vivado in tclsh: every command that the project's scripts may use is recorded on a line `> name arguments`. Another one is an error, and so
# is a file that does not exist. `slack` is what get_timing_paths finds.
#
# tclsh vivado.tcl BUILD.TCL SLACK [STEP]
set script [lindex $argv 0]
set slack [lindex $argv 1]
set argv [lrange $argv 2 end]

proc record {name arguments} {
    puts "> $name $arguments"
}
foreach name {
    set_msg_config create_project generate_target synth_ip synth_design opt_design place_design phys_opt_design route_design
    write_checkpoint write_bitstream write_cfgmem report_utilization report_timing_summary report_clock_interaction report_cdc report_bus_skew
    report_methodology report_drc report_power get_timing_paths set_property
} {
    proc $name args "record $name \$args"
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
proc get_property {name object} {
    return $::slack
}
foreach name {read_verilog read_xdc} {
    proc $name file "if {!\[file isfile \$file\]} {error \"\$file does not exist\"}; record $name \[list \[file tail \$file\]\]"
}
source $script
