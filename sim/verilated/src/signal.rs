//! Signals inside a model, found by their hierarchical names.

use std::ffi::{c_char, c_void, CStr};
use std::ptr::NonNull;

use crate::library::ALL_GROUPS;
use crate::model::{Model, PortId};
use crate::slot::Slot;

/// The callback of signals.cpp. It is called for each signal, and once with a null name for each scope without signals.
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

/// The type of a signal's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalKind {
    /// Two-valued bits.
    Bits,
    /// A `real`: 64 bits in IEEE 754 binary64 format.
    Real,
}

/// A signal inside a model, or a port of its top module.
#[derive(Clone, Debug)]
pub struct Signal {
    /// Path of the instance that contains it, from the top module down, for example `top.u_core.gen[3]`.
    pub scope: String,
    /// Name without the path.
    pub name: String,
    pub kind: SignalKind,
    /// Declared packed range, left and right. It is none for a scalar. Verilator 5.006 reports an ascending range as a descending one.
    pub range: Option<(i32, i32)>,
    /// Range of the unpacked dimension, left and right, if the signal is an array.
    pub array: Option<(i32, i32)>,
    /// The signal is a parameter, which never changes.
    pub constant: bool,
    first: usize,
}

impl Signal {
    /// Returns the number of elements of an array, and 1 for any other signal.
    pub fn elements(&self) -> usize {
        self.array
            .map_or(1, |(left, right)| left.abs_diff(right) as usize + 1)
    }

    /// Returns the storage of element `index`, counted from the lowest index of the array.
    ///
    /// # Panics
    /// If the signal has fewer elements.
    pub fn element(&self, index: usize) -> PortId {
        assert!(
            index < self.elements(),
            "`{}` has no element {index}",
            self.name
        );
        PortId(self.first + index)
    }
}

/// The way in which Verilator stores a signal.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Storage {
    /// An integer of this many bits.
    Bits(usize),
    /// An array of 32-bit words.
    Words,
}

impl Storage {
    /// Converts a `VerilatedVarType` of verilated.h, from `VLVT_UINT8` to `VLVT_WDATA`.
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

    /// Returns how Verilator stores a signal of `width` bits.
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
    /// Number of slots that the model had before.
    offset: usize,
}

impl Model {
    /// Returns the paths of all scopes of the model and every signal in them. The library must be built
    /// [`with_signals`](crate::ModelSpec::with_signals); otherwise the lists are empty. Ports of the top module are in the scope `TOP`. Two kinds of
    /// signals are left out: those that are neither bits nor a real, and arrays of several unpacked dimensions, whose shape Verilator's tables do not
    /// contain.
    ///
    /// Each call adds identifiers to the model, so it should be called only once.
    pub fn signals(&mut self) -> (Vec<String>, Vec<Signal>) {
        let mut collector = Collector {
            scopes: vec![],
            signals: vec![],
            slots: vec![],
            offset: self.ports.len(),
        };
        if let Some(interface) = &self.library.interface.signals {
            // SAFETY: the instance is live. `visit` gets the collector, which outlives the call, and nothing else refers to it during the call.
            unsafe {
                (interface.visit)(self.handle.as_ptr(), (&raw mut collector).cast(), visit);
            }
        }
        self.ports.append(&mut collector.slots);
        (collector.scopes, collector.signals)
    }

    /// Sets any signal, including outputs and internal signals, from 32-bit words as [`set`](Model::set) does. The next evaluation may overwrite the
    /// value.
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
    // The path starts with the name of the instance, TOP. The scope of the instance itself is TOP.TOP.
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
        // SAFETY: Verilator's table has two numbers for each dimension.
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
            group: ALL_GROUPS,
        });
    }
    collector.signals.push(signal);
}
