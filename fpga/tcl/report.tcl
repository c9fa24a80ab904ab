# Writes the reports, and stops if the design is not one to load.
proc step_report {} {
    global results
    report_timing_summary -file [file join $results timing.rpt]
    report_utilization -hierarchical -file [file join $results utilization.rpt]
    report_clock_interaction -file [file join $results clock_interaction.rpt]
    report_cdc -details -file [file join $results cdc.rpt]
    report_bus_skew -file [file join $results bus_skew.rpt]
    report_high_fanout_nets -max_nets 100 -file [file join $results high_fanout_nets.rpt]
    report_methodology -file [file join $results methodology.rpt]
    report_drc -file [file join $results drc.rpt]
    report_power -file [file join $results power.rpt]
    foreach check {setup hold} {
        set worst [get_timing_paths -$check -max_paths 1 -nworst 1]
        set slack [get_property SLACK $worst]
        if {$slack < 0} {
            error "timing is not met: the worst $check slack is $slack ns ([file join $results timing.rpt])"
        }
    }
}
