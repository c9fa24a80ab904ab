//! Bundles joined through a generic block.
use hdl_macros::{bundle, hdl, join};
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

#[test]
fn joins_name_the_flattened_bundles() {
    let Verilog::Combinatorial(statements) = Chain::<Bits<8>>::default().hdl() else {
        panic!("a kernel is combinatorial")
    };
    let mut ends = Vec::new();
    for statement in &statements {
        if let VerilogStatement::Assignment(
            VerilogExpression::Signal(to),
            VerilogExpression::Signal(from),
        ) = statement
        {
            ends.push((from.as_str(), to.as_str()));
        }
    }
    assert_eq!(ends.len(), 8);
    assert_eq!(ends[0], ("from$data", "stages$0$input$data"));
    assert_eq!(ends[1], ("stages$0$input$ready", "from$ready"));
    assert_eq!(ends[2], ("stages$0$output$data", "stages$1$input$data"));
    assert_eq!(ends[7], ("to$ready", "stages$2$output$ready"));
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
