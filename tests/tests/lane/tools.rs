//! Other tools accept the lane's Verilog.

use sim_cosim::LaneWidth;

#[test]
fn the_lane_lints_in_verilator_parses_in_icarus_and_elaborates_in_yosys_without_latches() {
    for width in [LaneWidth::Bits512, LaneWidth::Bits1024] {
        hdl_testkit::tools::check(&width.elaborate().unwrap()).unwrap();
    }
}
