proc step_synth {} {
    global results top part flow
    # The card's Verilog leaves simulation models of memories out when SYNTHESIS is defined.
    set options [list -top $top -part $part -verilog_define SYNTHESIS]
    if {$flow eq "out_of_context"} {
        lappend options -mode out_of_context
    }
    synth_design {*}$options
    write_checkpoint -force [file join $results synth.dcp]
    report_utilization -hierarchical -file [file join $results synth_utilization.rpt]
}
