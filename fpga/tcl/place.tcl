# Lets the placer replicate the drivers of nets with more than $max_loads loads, each copy for loads that lie together. It replicates registers and LUTs (UG912,
# FORCE_MAX_FANOUT); a net with another driver is named.
proc replicate_wide_nets {} {
    global max_loads
    set pins [expr {$max_loads + 1}]
    foreach net [get_nets -quiet -hierarchical -top_net_of_hierarchical_group -filter "TYPE == SIGNAL && FLAT_PIN_COUNT > $pins"] {
        set driver [get_pins -quiet -leaf -of_objects $net -filter {DIRECTION == OUT}]
        set kind port
        if {[llength $driver] > 0} {
            set kind [get_property REF_NAME [get_cells -of_objects $driver]]
        }
        if {[regexp {^(FD|LUT)} $kind]} {
            set_property FORCE_MAX_FANOUT $max_loads [get_nets -of_objects $driver]
        } else {
            puts "openstellar: $net has more than $max_loads loads and is not replicated: its driver is a $kind"
        }
    }
}

proc step_place {} {
    global results
    opt_design
    replicate_wide_nets
    place_design -directive Explore
    phys_opt_design -directive AggressiveExplore
    write_checkpoint -force [file join $results place.dcp]
}
