//! A Verilated core stage: tokens in, tokens out a fixed number of cycles later.

use rust_hdl::core::type_descriptor::{TypeDescriptor, TypeKind};
use rust_hdl::prelude::*;
use sim_verilated::{Library, Model, PortId};
use stellar_wire::hw::pack::{width, Record};

pub struct Stage {
    model: Model,
    clock: PortId,
    in_valid: PortId,
    in_token: PortId,
    out_valid: PortId,
    out_token: PortId,
    latency: usize,
}

impl Stage {
    pub fn new(library: &Library, latency: usize) -> Self {
        let model = library.instantiate();
        let port = |name: &str| model.port(name).unwrap();
        Self {
            clock: port("clock"),
            in_valid: port("in_valid"),
            in_token: port("in_token"),
            out_valid: port("out_valid"),
            out_token: port("out_token"),
            model,
            latency,
        }
    }

    /// Feeds one slot per cycle. Result `i` is what the stage says exactly `latency` cycles after input `i`; it must say nothing in the
    /// cycles before the first. While no token is offered, the token input holds `garbage`.
    pub fn run(&mut self, input: &[Option<Vec<u32>>], garbage: &[u32]) -> Vec<Option<Vec<u32>>> {
        let idle = std::iter::repeat_n(&None, self.latency);
        let mut output = vec![];
        for token in input.iter().chain(idle) {
            self.model
                .set_u64(self.in_valid, u64::from(token.is_some()));
            self.model
                .set(self.in_token, token.as_deref().unwrap_or(garbage));
            self.model.clock(self.clock);
            let valid = self.model.get_u64(self.out_valid) != 0;
            output.push(valid.then(|| self.model.get_words(self.out_token).to_vec()));
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
        let reset = self.model.port("reset").unwrap();
        self.model.set_u64(reset, 1);
        self.model.set_u64(self.in_valid, 0);
        self.model.clock(self.clock);
        self.model.set_u64(reset, 0);
    }

    /// Offers one token for one cycle, and whether a token came out.
    pub fn offer(&mut self, token: Option<&[u32]>) -> bool {
        self.model
            .set_u64(self.in_valid, u64::from(token.is_some()));
        self.model.set(self.in_token, token.unwrap_or_default());
        self.model.clock(self.clock);
        self.model.get_u64(self.out_valid) != 0
    }
}

/// Compares two packed records field by field, leaving out `except`; a difference is reported by the field's name.
pub fn assert_fields<T: Synth>(actual: &[u32], expected: &[u32], except: &[&str], what: &str) {
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
