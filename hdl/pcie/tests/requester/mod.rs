//! AMD's requester streams.

mod completions;
mod requests;

use hdl_pcie::requester::*;
use hdl_testkit::tools;
use hdl_verilog::emit;
use rust_hdl::prelude::Block;

#[test]
fn the_tools_take_both_widths() {
    fn check<B: Block + Default>() {
        let mut block = Box::<B>::default();
        block.connect_all();
        tools::check(&emit(block.as_ref()).unwrap()).unwrap();
    }
    check::<RequestStream1024>();
    check::<RequestStream512>();
    check::<CompletionStream1024>();
    check::<CompletionStream512>();
}
