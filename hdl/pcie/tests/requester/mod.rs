//! AMD's requester streams.

mod completions;
mod link;
mod messages;
mod requests;

use hdl_pcie::requester::*;
use hdl_testkit::tools;

#[test]
fn the_tools_take_both_widths() {
    tools::assert_clean::<RequestStream1024>();
    tools::assert_clean::<RequestStream512>();
    tools::assert_clean::<CompletionStream1024>();
    tools::assert_clean::<CompletionStream512>();
}
