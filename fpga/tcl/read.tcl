proc step_read {} {
    global here sources constraints
    foreach source $sources {
        read_verilog [file join $here $source]
    }
    foreach file $constraints {
        read_xdc [file join $here $file]
    }
}
