//! Values of every width are set in a model and read back.

use std::cell::RefCell;

use proptest::prelude::*;
use sim_verilated::{Library, Model, ModelError, ModelSpec, Port};

const WIDTHS: [usize; 7] = [1, 8, 9, 33, 64, 65, 1024];

fn widths() -> Library {
    let mut ports = vec![Port::input("clk", 1), Port::output("held_1024", 1024)];
    for width in WIDTHS {
        ports.push(Port::input(format!("in_{width}"), width));
        ports.push(Port::output(format!("out_{width}"), width));
    }
    ModelSpec::new("widths", include_str!("verilog/widths.v"), ports)
        .build()
        .unwrap()
}

/// Returns `words` cut to a port of `width` bits.
fn truncated(words: &[u32], width: usize) -> Vec<u32> {
    (0..width.div_ceil(32))
        .map(|index| {
            let bits = (width - index * 32).min(32);
            words.get(index).copied().unwrap_or(0) & (u32::MAX >> (32 - bits))
        })
        .collect()
}

fn check_width(model: &mut Model, width: usize, words: &[u32]) {
    let input = model.port(&format!("in_{width}")).unwrap();
    let output = model.port(&format!("out_{width}")).unwrap();
    model.set(input, words);
    model.eval();
    let expected = truncated(words, width);
    assert_eq!(&*model.get_words(output), expected, "{width} bits");
    let mut copy = vec![0xdead_beef; expected.len() + 1];
    model.get(output, &mut copy);
    assert_eq!(copy[..expected.len()], expected);
    assert_eq!(copy[expected.len()], 0);
    let low = |index: usize| u64::from(expected.get(index).copied().unwrap_or(0));
    assert_eq!(model.get_u64(output), low(0) | low(1) << 32);
    model.set_u64(input, u64::MAX);
    model.eval();
    assert_eq!(
        &*model.get_words(output),
        truncated(&[u32::MAX, u32::MAX], width)
    );
}

#[test]
fn values_of_every_width_are_kept_and_truncated_to_the_port() {
    let library = widths();
    let model = RefCell::new(library.instantiate());
    proptest!(|(words in prop::collection::vec(any::<u32>(), 0..40))| {
        for width in WIDTHS {
            check_width(&mut model.borrow_mut(), width, &words);
        }
    });
}

#[test]
fn a_register_takes_the_inputs_set_before_the_clock() {
    let mut model = widths().instantiate();
    let clk = model.port("clk").unwrap();
    let input = model.port("in_1024").unwrap();
    let held = model.port("held_1024").unwrap();
    let words: Vec<u32> = (0..32).map(|index| 0x0101_0101 * index).collect();
    model.set(input, &words);
    model.eval();
    assert!(model.get_words(held).iter().all(|word| *word == 0));
    model.clock(clk);
    assert_eq!(&*model.get_words(held), words);
    model.set(input, &[]);
    model.eval();
    assert_eq!(&*model.get_words(held), words, "no edge, no change");
}

#[test]
fn an_unknown_port_is_refused_and_the_known_ones_are_listed() {
    let model = widths().instantiate();
    let error = model.port("in_7").unwrap_err();
    assert!(matches!(error, ModelError::UnknownPort { .. }));
    let text = error.to_string();
    assert!(text.contains("in_7") && text.contains("out_1024"), "{text}");
}

#[test]
#[should_panic(expected = "is an output")]
fn an_output_cannot_be_set() {
    let mut model = widths().instantiate();
    let output = model.port("out_8").unwrap();
    model.set_u64(output, 1);
}
