proc step_route {} {
    global results
    promote_design_rules
    route_design -directive Explore
    phys_opt_design -directive AggressiveExplore
    write_checkpoint -force [file join $results route.dcp]
}
