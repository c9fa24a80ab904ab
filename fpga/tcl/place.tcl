# The nets with more than $max_loads loads: for each, its driving pin and the kind of that cell, or "port".
proc wide_nets {} {
    global max_loads
    set pins [expr {$max_loads + 1}]
    set found {}
    foreach net [get_nets -quiet -hierarchical -top_net_of_hierarchical_group -filter "TYPE == SIGNAL && FLAT_PIN_COUNT > $pins"] {
        set driver [get_pins -quiet -leaf -of_objects $net -filter {DIRECTION == OUT}]
        set kind port
        if {[llength $driver] > 0} {
            set kind [get_property REF_NAME [get_cells -of_objects $driver]]
        }
        lappend found $net $driver $kind
    }
    return $found
}

# Lets opt_design make LUTs of the multiplexers beside the LUTs that drive such nets (UG949, MUXF_REMAP), because only LUTs and registers are replicated.
proc remap_wide_multiplexers {} {
    foreach {net driver kind} [wide_nets] {
        if {[string match MUXF* $kind]} {
            set_property MUXF_REMAP TRUE [get_cells -of_objects $driver]
        }
    }
}

# Lets the placer replicate the drivers of these nets, each copy for loads that lie together. It replicates registers and LUTs (UG912, FORCE_MAX_FANOUT); a net with another
# driver is named.
proc replicate_wide_nets {} {
    global max_loads
    foreach {net driver kind} [wide_nets] {
        if {[regexp {^(FD|LUT)} $kind]} {
            set_property FORCE_MAX_FANOUT $max_loads [get_nets -of_objects $driver]
        } else {
            puts "openstellar: $net has more than $max_loads loads and is not replicated: its driver is a $kind"
        }
    }
}

proc step_place {} {
    global results
    remap_wide_multiplexers
    opt_design
    replicate_wide_nets
    place_design -directive Explore
    phys_opt_design -directive AggressiveExplore
    write_checkpoint -force [file join $results place.dcp]
}
