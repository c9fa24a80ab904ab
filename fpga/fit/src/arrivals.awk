# Adds to logic that ABC wrote when its late inputs arrive, `levels` LUTs after the others.
# Files: the late wires, by Yosys' `select -list`; ABC's inputs with the names of their wires, as Yosys wrote them; the logic.
FNR == 1 { file++ }
file == 1 { sub(/^[^\/]*\//, ""); late[/^\$/ ? $0 : "\\" $0]; next }
file == 2 { if ($1 == "#" && ($3 in late)) comes[$2]; next }
{ print }
/^\.inputs/ { inputs = 1 }
inputs { for (i = 1; i <= NF; i++) is_input[$i]; inputs = /\\$/ }
/^\.outputs/ { outputs = 1 }
outputs && !/\\$/ {
    outputs = 0
    for (name in comes) if (name in is_input) print ".input_arrival", name, levels ".0", levels ".0"
}
