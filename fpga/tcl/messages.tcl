# Critical warnings and warnings after which a bitstream is wrong. Vivado would go on. Timing is checked after its reports are written (report.tcl).
proc promote_messages {} {
    set wrong {
        {Synth 8-327}     {a latch}
        {Synth 8-3352}    {a net with several drivers}
        {Synth 8-5559}    {a net with several drivers, of which one is constant}
        {Synth 8-6430}    {a block RAM whose output is undefined when a word is read and written at once}
        {Vivado 12-180}   {a constraint names cells that do not exist}
        {Vivado 12-508}   {a constraint names pins that do not exist}
        {Vivado 12-584}   {a constraint names ports that do not exist}
        {Vivado 12-4739}  {a constraint without an object}
        {Common 17-55}    {a property without an object}
    }
    foreach {id why} $wrong {
        set_msg_config -id $id -new_severity ERROR
    }
}

# Design rules after routing that are errors here: REQP-1858, read and write of one address of a block RAM. Not every device has the rule.
proc promote_design_rules {} {
    set rules [get_drc_checks -quiet REQP-1858]
    if {$rules ne ""} {
        set_property SEVERITY ERROR $rules
    }
}
