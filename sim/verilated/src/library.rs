//! The shared library of a model, loaded into this process.

use std::ffi::{c_char, c_int, c_void};
use std::path::Path;
use std::sync::Arc;

use crate::error::BuildError;
use crate::mode::SimMode;
use crate::model::Model;
use crate::port::Port;
use crate::profile::ProfileInterface;
use crate::signal::VisitSignal;
use crate::spec::ModelSpec;

/// A built model, from which instances are made. Clones share the loaded code.
#[derive(Clone)]
pub struct Library {
    loaded: Arc<Loaded>,
}

impl Library {
    /// Makes an instance. All of its inputs are zero, its outputs are settled, and its time is zero. Instances share no mutable state.
    pub fn instantiate(&self) -> Model {
        Model::new(Arc::clone(&self.loaded))
    }

    /// The ports of the model.
    pub fn ports(&self) -> &[Port] {
        &self.loaded.ports
    }

    /// Loads the shared library at `path`, which [`ModelSpec::build_file`] made from `spec`. The Verilog of `spec` is not checked.
    ///
    /// # Errors
    /// [`BuildError::Load`] if the file does not exist or was built from a specification with other options.
    pub fn load(spec: &ModelSpec, path: &Path) -> Result<Self, BuildError> {
        let failed = |source| BuildError::Load {
            path: path.to_path_buf(),
            source,
        };
        // SAFETY: the file was built by this crate from its own shim; loading runs only the static constructors of Verilator's run time.
        let code = unsafe { libloading::Library::new(path) }.map_err(failed)?;
        // SAFETY: the names and signatures are those of shim.cpp, whose text is part of the hash the library was found by.
        let interface = unsafe { Interface::resolve(spec, &code) }.map_err(failed)?;
        Ok(Self {
            loaded: Arc::new(Loaded {
                interface,
                top: spec.top.clone(),
                ports: spec.ports.clone(),
                groups: groups(spec),
                _code: code,
            }),
        })
    }
}

/// Every group of inputs.
pub(crate) const ALL_GROUPS: u64 = u64::MAX;

/// Returns [`Loaded::groups`] of a model of `spec`.
fn groups(spec: &ModelSpec) -> Vec<u64> {
    let held = match (&spec.gating, spec.mode) {
        (Some(gating), SimMode::OnChange) => gating.inputs.as_slice(),
        _ => return vec![ALL_GROUPS; spec.ports.len()],
    };
    let group = |port: &Port| {
        let number = held.iter().position(|held| held.ports.contains(&port.name));
        number.map_or(0, |number| 1 << number)
    };
    spec.ports.iter().map(group).collect()
}

/// The library in memory, and what describes it.
pub(crate) struct Loaded {
    pub interface: Interface,
    pub top: String,
    pub ports: Vec<Port>,
    /// For each port, its group: the bit of the inputs that have one clock in code that runs on change ([`HeldInputs`](crate::build::HeldInputs)). Other models find out by themselves which inputs have
    /// changed.
    pub groups: Vec<u64>,
    /// The loaded code. It is unloaded when the last instance is dropped, because `interface` points into it.
    _code: libloading::Library,
}

/// The functions of shim.cpp.
pub(crate) struct Interface {
    pub new: unsafe extern "C" fn() -> *mut c_void,
    pub delete: unsafe extern "C" fn(*mut c_void),
    pub ports: unsafe extern "C" fn(*mut c_void, *mut *mut c_void),
    pub eval: unsafe extern "C" fn(*mut c_void, u64, u64) -> c_int,
    pub message: unsafe extern "C" fn(*mut c_void) -> *const c_char,
    pub plus_argument: unsafe extern "C" fn(*mut c_void, *const c_char),
    pub trace: Option<TraceInterface>,
    pub coverage_write: Option<unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int>,
    pub signals: Option<SignalInterface>,
    pub profile: Option<ProfileInterface>,
}

/// The functions of signals.cpp. Only a model that was built with signals has them.
pub(crate) struct SignalInterface {
    pub visit: unsafe extern "C" fn(*mut c_void, *mut c_void, VisitSignal),
}

/// The functions of shim.cpp that only a model built with waves has.
pub(crate) struct TraceInterface {
    pub open: unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int,
    pub dump: unsafe extern "C" fn(*mut c_void, u64),
    pub close: unsafe extern "C" fn(*mut c_void),
}

impl Interface {
    /// # Safety
    /// `code` must be a library built from shim.cpp with the options of `spec`.
    unsafe fn resolve(
        spec: &ModelSpec,
        code: &libloading::Library,
    ) -> Result<Self, libloading::Error> {
        let trace = if spec.trace {
            Some(TraceInterface {
                open: *code.get(b"stellar_trace_open\0")?,
                dump: *code.get(b"stellar_trace_dump\0")?,
                close: *code.get(b"stellar_trace_close\0")?,
            })
        } else {
            None
        };
        let coverage_write = if spec.coverage {
            Some(*code.get(b"stellar_coverage_write\0")?)
        } else {
            None
        };
        let signals = if spec.signals {
            Some(SignalInterface {
                visit: *code.get(b"stellar_signals\0")?,
            })
        } else {
            None
        };
        let profile = if spec.gating.is_some() {
            Some(ProfileInterface {
                switch: *code.get(b"stellar_profile\0")?,
                blocks: *code.get(b"stellar_blocks\0")?,
            })
        } else {
            None
        };
        Ok(Self {
            new: *code.get(b"stellar_new\0")?,
            delete: *code.get(b"stellar_delete\0")?,
            ports: *code.get(b"stellar_ports\0")?,
            eval: *code.get(b"stellar_eval\0")?,
            message: *code.get(b"stellar_message\0")?,
            plus_argument: *code.get(b"stellar_plus_argument\0")?,
            trace,
            coverage_write,
            signals,
            profile,
        })
    }
}
