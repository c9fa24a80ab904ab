//! Bundles joined and linked through a generic block.
use hdl_macros::hdl;
use rust_hdl_core::ast::{VerilogLink, VerilogStatement};
use rust_hdl_core::prelude::*;

#[derive(LogicInterface, Default, Clone, Debug)]
#[join = "Sink"]
struct Source<T: Synth> {
    data: Signal<Out, T>,
    ready: Signal<In, Bit>,
}

#[derive(LogicInterface, Default, Clone, Debug)]
#[join = "Source"]
struct Sink<T: Synth> {
    data: Signal<In, T>,
    ready: Signal<Out, Bit>,
}

#[derive(LogicBlock, Default)]
struct Stage<T: Synth> {
    input: Sink<T>,
    output: Source<T>,
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
    from: Sink<T>,
    to: Source<T>,
    stages: [Stage<T>; 3],
}

impl<T: Synth> Logic for Chain<T> {
    #[hdl]
    fn update(&mut self) {
        Sink::<T>::link(&mut self.from, &mut self.stages[0].input);
        Source::<T>::join(&mut self.stages[0].output, &mut self.stages[1].input);
        Source::<T>::join(&mut self.stages[1].output, &mut self.stages[2].input);
        Source::<T>::link(&mut self.to, &mut self.stages[2].output);
    }
}

#[test]
fn joins_and_links_name_the_flattened_bundles() {
    let Verilog::Combinatorial(statements) = Chain::<Bits<8>>::default().hdl() else {
        panic!("a kernel is combinatorial")
    };
    let mut ends = Vec::new();
    for statement in &statements {
        if let VerilogStatement::Link(links) = statement {
            assert_eq!(links.len(), 2);
            for link in links {
                let (VerilogLink::Forward(d)
                | VerilogLink::Backward(d)
                | VerilogLink::Bidirectional(d)) = link;
                ends.push((
                    d.my_name.as_str(),
                    d.owner_name.as_str(),
                    d.other_name.as_str(),
                ));
            }
        }
    }
    assert_eq!(ends[0], (".data", "from", "stages$0$input"));
    assert_eq!(ends[2], (".data", "stages$0$output", "stages$1$input"));
    assert_eq!(ends[7], (".ready", "to", "stages$2$output"));
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
