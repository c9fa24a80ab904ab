# Builds the project: vivado -mode batch -source build.tcl [-tclargs STEP]. It stops after STEP (create, ip, read, synth, place, route, report, image).
# Results are in the folder build beside this file. Nothing is kept between runs: this is Vivado's non-project mode.
set here [file dirname [file normalize [info script]]]
set results [file join $here build]
file mkdir $results

source [file join $here project.tcl]
foreach name {messages create ip read synth place route report image} {
    source [file join $here tcl $name.tcl]
}

set steps {create ip read synth place route report image}
set last [lindex $steps end]
if {[info exists argv] && [llength $argv] > 0} {
    set last [lindex $argv 0]
    if {[lsearch -exact $steps $last] < 0} {
        error "there is no step $last in this project; there are [join $steps {, }]"
    }
}

promote_messages
foreach step $steps {
    puts "openstellar: $step"
    step_$step
    if {$step eq $last} {
        break
    }
}
