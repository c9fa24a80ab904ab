//! Bundles joined through a generic block.
use hdl_macros::{bundle, clock_reset, hdl, join};
use rust_hdl_core::ast::{VerilogExpression, VerilogStatement};
use rust_hdl_core::prelude::*;

#[bundle]
struct StageSrc<T: Synth> {
    data: Signal<Out, T>,
    ready: Signal<In, Bit>,
}

#[derive(LogicBlock, Default)]
struct Stage<T: Synth> {
    input: StageSnk<T>,
    output: StageSrc<T>,
}

impl<T: Synth> Logic for Stage<T> {
    #[hdl]
    fn update(&mut self) {
        let data = self.input.data.val();
        self.output.data.next = data;
        self.input.ready.next = self.output.ready.val();
    }
}

#[derive(LogicBlock, Default)]
struct Chain<T: Synth> {
    from: StageSnk<T>,
    to: StageSrc<T>,
    stages: [Stage<T>; 3],
}

impl<T: Synth> Logic for Chain<T> {
    #[hdl]
    fn update(&mut self) {
        join!(
            self,
            from => stages[0].input,
            stages[0].output => stages[1].input,
            stages[1].output => stages[2].input,
            stages[2].output => to,
        );
    }
}

/// The signals that a block connects directly, from and to.
fn connections(block: &impl Logic) -> Vec<(String, String)> {
    let Verilog::Combinatorial(statements) = block.hdl() else {
        panic!("a kernel is combinatorial")
    };
    let connection = |statement| match statement {
        VerilogStatement::Assignment(
            VerilogExpression::Signal(to),
            VerilogExpression::Signal(from),
        ) => Some((from, to)),
        _ => None,
    };
    statements.into_iter().filter_map(connection).collect()
}

#[test]
fn joins_name_the_flattened_bundles() {
    let ends = connections(&Chain::<Bits<8>>::default());
    assert_eq!(ends.len(), 8);
    let end = |i: usize| (ends[i].0.as_str(), ends[i].1.as_str());
    assert_eq!(end(0), ("from$data", "stages$0$input$data"));
    assert_eq!(end(1), ("stages$0$input$ready", "from$ready"));
    assert_eq!(end(2), ("stages$0$output$data", "stages$1$input$data"));
    assert_eq!(end(7), ("to$ready", "stages$2$output$ready"));
}

#[test]
fn a_chain_is_fully_connected_and_carries_data() {
    let mut chain = Chain::<Bits<8>>::default();
    chain.from.data.connect();
    chain.to.ready.connect();
    chain.connect_all();
    assert!(check_connected(&chain).is_ok());
    chain.from.data.next = bits(0x5A);
    chain.to.ready.next = true;
    for _ in 0..10 {
        chain.update_all();
    }
    assert_eq!(chain.to.data.val(), bits::<8>(0x5A));
    assert!(chain.from.ready.val());
}

#[derive(LogicBlock, Default)]
struct Clocked {
    clock: Signal<In, Clock>,
    reset: Signal<In, Bit>,
    in_reset: Signal<Out, Bit>,
}

impl Logic for Clocked {
    #[hdl]
    fn update(&mut self) {
        self.in_reset.next = self.reset.val();
    }
}

#[derive(LogicBlock, Default)]
struct ClockTree {
    clock: Signal<In, Clock>,
    reset: Signal<In, Bit>,
    one: Clocked,
    more: [Clocked; 2],
}

impl Logic for ClockTree {
    #[hdl]
    fn update(&mut self) {
        clock_reset!(self, one, more[..]);
    }
}

#[test]
fn clock_and_reset_reach_each_block_and_each_of_an_array() {
    let ends = connections(&ClockTree::default());
    let expected = ["clock", "reset"].map(|port| {
        ["one", "more$0", "more$1"].map(|block| (port.to_string(), format!("{block}${port}")))
    });
    assert_eq!(ends, expected.concat());
    let mut tree = ClockTree::default();
    tree.clock.connect();
    tree.reset.connect();
    tree.connect_all();
    assert!(check_connected(&tree).is_ok());
    tree.reset.next = true;
    for _ in 0..10 {
        tree.update_all();
    }
    assert!(tree.one.in_reset.val() & tree.more[1].in_reset.val());
}
