# Adds to logic that ABC wrote when its inputs come and when its outputs are needed, in levels.
# Files: times (`arrival` or `required`, levels, Yosys' name of the bit); ABC's signals with their names, as Yosys wrote them; the logic.
FNR == 1 { file++ }
file == 1 && $1 == "period" { period = $2 }
file == 1 { bit = $3 " " $4; if ($1 == "arrival") arrival[bit] = $2; if ($1 == "required") required[bit] = $2; next }
file == 2 {
    bit = $3 " " $4
    if ($1 == "#" && bit in arrival) comes[$2] = arrival[bit]
    if ($1 == "#" && bit in required) needed[$2] = required[bit]
    next
}
{ print }
/^\.inputs/ { inputs = 1 }
inputs { for (i = 1; i <= NF; i++) if ($i in comes) print_arrival[$i]; inputs = /\\$/ }
/^\.outputs/ { outputs = 1 }
outputs { for (i = 1; i <= NF; i++) if ($i in needed) print_required[$i] }
outputs && !/\\$/ {
    outputs = 0
    if (period) print ".default_output_required", period, period
    for (name in print_arrival) print ".input_arrival", name, comes[name], comes[name]
    for (name in print_required) print ".output_required", name, needed[name], needed[name]
}
