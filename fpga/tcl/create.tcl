proc step_create {} {
    global part
    create_project -in_memory -part $part
    set_property target_language Verilog [current_project]
}
