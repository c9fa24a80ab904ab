proc step_synth {} {
    global results top part
    # The card's Verilog leaves simulation models of memories out when SYNTHESIS is defined.
    synth_design -top $top -part $part -verilog_define SYNTHESIS
    write_checkpoint -force [file join $results synth.dcp]
    report_utilization -hierarchical -file [file join $results synth_utilization.rpt]
}
