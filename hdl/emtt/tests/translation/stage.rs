//! A Verilated core stage: tokens in, tokens out a fixed number of cycles later.

use hdl_testkit::Dut;
use rust_hdl::core::type_descriptor::{TypeDescriptor, TypeKind};
use rust_hdl::prelude::*;
use stellar_wire::hw::pack::{width, Record};

pub struct Stage {
    dut: Dut,
    latency: usize,
}

impl Stage {
    pub fn new<B: Block + Default + 'static>(latency: usize) -> Self {
        Self {
            dut: Dut::new::<B>(),
            latency,
        }
    }

    /// Feeds one slot per cycle. Result `i` is the output exactly `latency` cycles after input `i`. The stage must have no output in the cycles
    /// before the first. While no token is offered, the token input has the value `garbage`.
    pub fn run(&mut self, input: &[Option<Vec<u32>>], garbage: &[u32]) -> Vec<Option<Vec<u32>>> {
        let idle = std::iter::repeat_n(&None, self.latency);
        let mut output = vec![];
        for token in input.iter().chain(idle) {
            self.dut.set("in_valid", token.is_some().into());
            let token = token.as_deref().unwrap_or(garbage);
            self.dut.set_words("in_token", token);
            self.dut.clock();
            let valid = self.dut.is("out_valid");
            output.push(valid.then(|| self.dut.words("out_token")));
        }
        let early = self.latency - 1;
        assert!(
            output[..early].iter().all(Option::is_none),
            "a token came out before its time"
        );
        assert!(
            output[output.len() - 1].is_none(),
            "a token came out that never went in"
        );
        output[early..early + input.len()].to_vec()
    }

    /// One cycle with the synchronous reset active.
    pub fn reset(&mut self) {
        self.dut.set("in_valid", 0);
        self.dut.reset(1);
    }

    /// Offers one token for one cycle, and whether a token came out.
    pub fn offer(&mut self, token: Option<&[u32]>) -> bool {
        self.dut.set("in_valid", token.is_some().into());
        self.dut.set_words("in_token", token.unwrap_or_default());
        self.dut.clock();
        self.dut.is("out_valid")
    }
}

/// Compares two packed records field by field, leaving out `except`; a difference is reported by the field's name.
pub fn assert_fields<T: Synth + 'static>(
    actual: &[u32],
    expected: &[u32],
    except: &[&str],
    what: &str,
) {
    // Taking records apart by name is slow, and hardly ever needed.
    if actual == expected {
        return;
    }
    let (actual, expected) = (Record::<T>::new(actual), Record::<T>::new(expected));
    for path in leaves(&T::descriptor(), "") {
        if !except.contains(&path.as_str()) {
            assert_eq!(
                actual.words(&path),
                expected.words(&path),
                "{path} of {what}"
            );
        }
    }
}

/// Paths of all fields that are not records themselves.
fn leaves(descriptor: &TypeDescriptor, prefix: &str) -> Vec<String> {
    let TypeKind::Composite(fields) = &descriptor.kind else {
        return vec![];
    };
    let mut out = vec![];
    for field in fields.iter().filter(|field| width(&field.kind) > 0) {
        let path = format!("{prefix}{}", field.fieldname);
        match &field.kind.kind {
            TypeKind::Composite(_) => out.extend(leaves(&field.kind, &format!("{path}."))),
            _ => out.push(path),
        }
    }
    out
}
