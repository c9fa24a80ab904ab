//! Signals inside a model, found by their hierarchical names.

use std::ffi::{c_char, c_void, CStr};
use std::ptr::NonNull;

use crate::model::{Model, PortId};
use crate::slot::Slot;

/// Called by signals.cpp for each signal, and once with null name for each scope that has none.
pub(crate) type VisitSignal = unsafe extern "C" fn(
    context: *mut c_void,
    scope: *const c_char,
    name: *const c_char,
    data: *mut c_void,
    kind: u32,
    flags: u32,
    packed: bool,
    left: i32,
    right: i32,
    unpacked: u32,
    ranges: *const i32,
);

/// What a signal holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalKind {
    /// Bits, two-valued.
    Bits,
    /// A `real`: 64 bits in the form of IEEE 754 binary64.
    Real,
}

/// A signal inside a model, or a port of its top module.
#[derive(Clone, Debug)]
pub struct Signal {
    /// Path of the instance it is in, from the top module down, for example `top.u_core.gen[3]`.
    pub scope: String,
    /// Its own name.
    pub name: String,
    pub kind: SignalKind,
    /// Declared packed range, left and right; none for a scalar. Verilator 5.006 gives an ascending range as a descending one.
    pub range: Option<(i32, i32)>,
    /// Range of the unpacked dimension of an array, left and right.
    pub array: Option<(i32, i32)>,
    /// A parameter, which never changes.
    pub constant: bool,
    first: usize,
}

impl Signal {
    /// Elements of an array; 1 for a signal that is none.
    pub fn elements(&self) -> usize {
        self.array
            .map_or(1, |(left, right)| left.abs_diff(right) as usize + 1)
    }

    /// The storage of element `index`, counted from the lowest index of the array.
    ///
    /// # Panics
    /// If there are not so many elements.
    pub fn element(&self, index: usize) -> PortId {
        assert!(
            index < self.elements(),
            "`{}` has no element {index}",
            self.name
        );
        PortId(self.first + index)
    }
}

/// How Verilator keeps a signal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Storage {
    /// An integer of so many bits.
    Bits(usize),
    /// An array of 32-bit words.
    Words,
}

impl Storage {
    /// From `VerilatedVarType` in verilated.h: `VLVT_UINT8` to `VLVT_WDATA`.
    fn from_kind(kind: u32) -> Option<Self> {
        match kind {
            2 => Some(Self::Bits(8)),
            3 => Some(Self::Bits(16)),
            4 => Some(Self::Bits(32)),
            5 => Some(Self::Bits(64)),
            6 => Some(Self::Words),
            _ => None,
        }
    }

    /// What Verilator takes for a signal of `width` bits.
    fn of(width: usize) -> Self {
        match width {
            0..=8 => Self::Bits(8),
            9..=16 => Self::Bits(16),
            17..=32 => Self::Bits(32),
            33..=64 => Self::Bits(64),
            _ => Self::Words,
        }
    }
}

const PARAMETER: u32 = 1 << 16;

struct Collector {
    scopes: Vec<String>,
    signals: Vec<Signal>,
    slots: Vec<Slot>,
    /// Slots the model had before.
    offset: usize,
}

impl Model {
    /// Every signal of the model and the paths of all its scopes, for a library built
    /// [`with_signals`](crate::ModelSpec::with_signals); else nothing. Ports of the top module are in the scope `TOP`. Signals that hold
    /// neither bits nor a real are left out, and arrays of several unpacked dimensions, whose shape Verilator's tables do not tell.
    ///
    /// Each call adds identifiers to the model: call it once.
    pub fn signals(&mut self) -> (Vec<String>, Vec<Signal>) {
        let mut collector = Collector {
            scopes: vec![],
            signals: vec![],
            slots: vec![],
            offset: self.ports.len(),
        };
        if let Some(interface) = &self.library.interface.signals {
            // SAFETY: a live instance; `visit` gets back the collector, which outlives the call, and nothing else refers to it meanwhile.
            unsafe {
                (interface.visit)(self.handle.as_ptr(), (&raw mut collector).cast(), visit);
            }
        }
        self.ports.append(&mut collector.slots);
        (collector.scopes, collector.signals)
    }

    /// Sets any signal, outputs and internal ones too, from 32-bit words as [`set`](Model::set) does. What the model computes next may
    /// overwrite it.
    pub fn overwrite(&mut self, signal: PortId, words: &[u32]) {
        let slot = &self.ports[signal.0];
        if slot.width <= 64 {
            let word = |index| words.get(index).copied().map_or(0, u64::from);
            slot.set_narrow(word(0) | word(1) << 32);
        } else {
            slot.set_wide(words);
        }
    }
}

unsafe extern "C" fn visit(
    context: *mut c_void,
    scope: *const c_char,
    name: *const c_char,
    data: *mut c_void,
    kind: u32,
    flags: u32,
    packed: bool,
    left: i32,
    right: i32,
    unpacked: u32,
    ranges: *const i32,
) {
    // SAFETY: `signals` passes its own collector, and the strings and ranges are live during this call.
    let (collector, scope) = unsafe {
        (
            &mut *context.cast::<Collector>(),
            CStr::from_ptr(scope).to_string_lossy().into_owned(),
        )
    };
    // Names start with that of the instance, which is TOP; its own scope is TOP.TOP.
    let scope = scope.strip_prefix("TOP.").unwrap_or(&scope).to_owned();
    if collector.scopes.last() != Some(&scope) {
        collector.scopes.push(scope.clone());
    }
    let (Some(storage), Some(data)) = (Storage::from_kind(kind), NonNull::new(data)) else {
        return;
    };
    // SAFETY: as above; `data` is not null, so this is a signal, which has a name.
    let name = unsafe { CStr::from_ptr(name).to_string_lossy().into_owned() };
    let array = match unpacked {
        0 => None,
        // SAFETY: two numbers per dimension.
        1 => Some(unsafe { (*ranges, *ranges.add(1)) }),
        _ => return,
    };
    let (kind, width) = match packed {
        false if storage == Storage::Bits(64) => (SignalKind::Real, 64),
        false => (SignalKind::Bits, 1),
        true => (SignalKind::Bits, left.abs_diff(right) as usize + 1),
    };
    if Storage::of(width) != storage {
        return;
    }
    let signal = Signal {
        scope,
        name,
        kind,
        range: packed.then_some((left, right)),
        array,
        constant: flags & PARAMETER != 0,
        first: collector.offset + collector.slots.len(),
    };
    let stride = match storage {
        Storage::Bits(bits) => bits / 8,
        Storage::Words => width.div_ceil(32) * 4,
    };
    for element in 0..signal.elements() {
        collector.slots.push(Slot {
            // SAFETY: Verilator keeps the elements of an unpacked array one after the other, lowest index first.
            address: unsafe { data.cast::<u8>().add(element * stride).cast() },
            width,
            writable: !signal.constant,
        });
    }
    collector.signals.push(signal);
}
