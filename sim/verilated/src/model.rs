//! A running instance of a model.

use std::ffi::{c_void, CStr, CString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::coverage;
use crate::error::{ModelError, Stopped};
use crate::library::{Loaded, ALL_GROUPS};
use crate::port::Dir;
use crate::profile::Sample;
use crate::recording::Recorder;
use crate::slot::{Slot, Words};

/// Clock period of a new instance in picoseconds: 250 MHz, the clock of the hardware.
pub const DEFAULT_CLOCK_PERIOD_PS: u64 = 4_000;

/// A handle of a port, from [`Model::port`], which is valid for every instance of the same library. It may also be the handle of a signal inside a
/// model, from [`Model::signals`], which is valid for that instance only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PortId(pub(crate) usize);

/// One instance of a model. It may be moved to another thread. Instances are independent of each other.
pub struct Model {
    pub(crate) handle: NonNull<c_void>,
    pub(crate) ports: Vec<Slot>,
    time_ps: u64,
    period_ps: u64,
    cycles: u64,
    tracing: bool,
    /// The groups of the inputs that have changed since the last evaluation.
    changed: u64,
    pub(crate) sample: Sample,
    pub(crate) recorder: Option<Box<Recorder>>,
    pub(crate) library: Arc<Loaded>,
}

// SAFETY: each instance has its own VerilatedContext, which is accessed only through this object. The run-time state that Verilator shares between
// instances is guarded by Verilator's own locks, or is per thread and not kept between calls.
unsafe impl Send for Model {}

impl Model {
    pub(crate) fn new(library: Arc<Loaded>) -> Self {
        // SAFETY: no arguments; a null result is handled.
        let handle = NonNull::new(unsafe { (library.interface.new)() })
            .unwrap_or_else(|| panic!("model `{}` could not be constructed", library.top));
        let mut addresses = vec![ptr::null_mut(); library.ports.len()];
        // SAFETY: the shim writes one address per port of the specification it was built from.
        unsafe { (library.interface.ports)(handle.as_ptr(), addresses.as_mut_ptr()) };
        let ports = library
            .ports
            .iter()
            .zip(addresses)
            .zip(&library.groups)
            .map(|((port, address), group)| Slot {
                address: NonNull::new(address).expect("the address of a member is not null"),
                width: port.width,
                writable: port.dir == Dir::In,
                group: *group,
            })
            .collect();
        let mut model = Self {
            handle,
            ports,
            time_ps: 0,
            period_ps: DEFAULT_CLOCK_PERIOD_PS,
            cycles: 0,
            tracing: false,
            changed: 0,
            sample: Sample::default(),
            recorder: None,
            library,
        };
        // This evaluation runs the initial blocks. It also shows Verilator the clock low; otherwise Verilator would miss the first rising edge.
        model.eval();
        model
    }

    /// Gives the model an argument as on a simulator's command line, without its `+`: `$test$plusargs` finds it from now on.
    ///
    /// # Panics
    /// If it contains a zero byte.
    pub fn plus_argument(&mut self, argument: &str) {
        let argument = CString::new(argument).expect("an argument has no zero byte");
        // SAFETY: the handle is that of this instance, and the shim copies the text.
        unsafe { (self.library.interface.plus_argument)(self.handle.as_ptr(), argument.as_ptr()) };
    }

    /// Returns the port `name`.
    ///
    /// # Errors
    /// [`ModelError::UnknownPort`].
    pub fn port(&self, name: &str) -> Result<PortId, ModelError> {
        let ports = &self.library.ports;
        let found = ports.iter().position(|port| port.name == name);
        found.map(PortId).ok_or_else(|| ModelError::UnknownPort {
            top: self.library.top.clone(),
            port: name.to_owned(),
            known: ports
                .iter()
                .map(|port| port.name.as_str())
                .collect::<Vec<_>>()
                .join(", "),
        })
    }

    /// Returns the width of a port in bits.
    pub fn width(&self, port: PortId) -> usize {
        self.ports[port.0].width
    }

    /// Sets an input from 32-bit words, lowest first. Missing words count as zero, and bits beyond the port's width are dropped.
    ///
    /// # Panics
    /// If the port is an output.
    pub fn set(&mut self, port: PortId, words: &[u32]) {
        let slot = self.input(port);
        self.changed |= if slot.width <= 64 {
            let word = |index| words.get(index).copied().map_or(0, u64::from);
            slot.set_narrow(word(0) | word(1) << 32)
        } else {
            slot.set_wide(words)
        };
    }

    /// Sets an input from an integer, which is extended with zeros or cut to the port's width.
    ///
    /// # Panics
    /// If the port is an output.
    #[inline]
    pub fn set_u64(&mut self, port: PortId, value: u64) {
        let slot = self.input(port);
        if slot.width <= 64 {
            self.changed |= slot.set_narrow(value);
        } else {
            self.set(port, &[value as u32, (value >> 32) as u32]);
        }
    }

    /// Returns the value of a port, or its low 64 bits if the port is wider.
    #[inline]
    pub fn get_u64(&self, port: PortId) -> u64 {
        let slot = &self.ports[port.0];
        if slot.width <= 64 {
            slot.narrow()
        } else {
            let words = slot.wide();
            u64::from(words[0]) | u64::from(words[1]) << 32
        }
    }

    /// Returns bit 0 of a port of any width.
    #[inline]
    pub fn get_bit(&self, port: PortId) -> bool {
        self.ports[port.0].lowest_bit()
    }

    /// Copies the value of a port into `out` as 32-bit words, lowest first. Words of `out` beyond the port are set to zero.
    ///
    /// # Panics
    /// If `out` is too short for the port.
    pub fn get(&self, port: PortId, out: &mut [u32]) {
        let words = self.get_words(port);
        assert!(
            out.len() >= words.len(),
            "port `{}` has {} words, the buffer {}",
            self.library.ports[port.0].name,
            words.len(),
            out.len()
        );
        out[..words.len()].copy_from_slice(&words);
        out[words.len()..].fill(0);
    }

    /// Returns the value of a port as 32-bit words, lowest first.
    #[inline]
    pub fn get_words(&self, port: PortId) -> Words<'_> {
        let slot = &self.ports[port.0];
        if slot.width > 64 {
            return Words::Wide(slot.wide());
        }
        let value = slot.narrow();
        Words::Narrow([value as u32, (value >> 32) as u32], slot.words())
    }

    /// Settles the outputs for the present inputs. Time does not advance, and nothing is written to the waves.
    ///
    /// # Panics
    /// When the Verilog stops itself; see the crate documentation.
    pub fn eval(&mut self) {
        self.eval_at(self.time_ps, ALL_GROUPS);
    }

    /// Runs one clock cycle on the input `clock`. First the clock is low, with the inputs set before; then it rises. The call returns with the clock
    /// high, the outputs settled after the edge, and time advanced by one period. Both halves are written to the waves, if they are open.
    ///
    /// # Panics
    /// When the Verilog stops itself, or `clock` is an output.
    pub fn clock(&mut self, clock: PortId) {
        self.fall(clock);
        self.rise(clock);
    }

    /// Runs the first half of [`clock`](Self::clock). The outputs are then settled for the inputs, so signals that are transferred at the edge can be
    /// read here. An additional [`eval`](Self::eval) before it would only repeat the work.
    ///
    /// # Panics
    /// The same as [`clock`](Self::clock).
    pub fn fall(&mut self, clock: PortId) {
        self.half(clock, 0, self.time_ps);
    }

    /// Runs the second half of [`clock`](Self::clock).
    ///
    /// # Panics
    /// The same as [`clock`](Self::clock).
    pub fn rise(&mut self, clock: PortId) {
        self.half(clock, 1, self.time_ps + self.period_ps / 2);
        self.time_ps += self.period_ps;
        self.cycles += 1;
    }

    fn half(&mut self, clock: PortId, level: u64, now: u64) {
        self.input(clock).set_narrow(level);
        let changed = std::mem::take(&mut self.changed);
        self.record(changed != 0);
        self.profiled(|model| model.eval_at(now, changed));
        if self.tracing {
            self.dump(now);
        }
    }

    /// Returns the number of clock cycles so far.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Returns the simulated time in picoseconds. This is the time of the waves and of `$time`.
    pub fn time_ps(&self) -> u64 {
        self.time_ps
    }

    /// Sets the duration of the following clock cycles in picoseconds. The default is [`DEFAULT_CLOCK_PERIOD_PS`].
    ///
    /// # Panics
    /// If the period is below 2 ps, which cannot be halved.
    pub fn set_clock_period_ps(&mut self, period_ps: u64) {
        assert!(
            period_ps >= 2,
            "a clock period of {period_ps} ps is too short"
        );
        self.period_ps = period_ps;
    }

    /// Starts to write FST waves of every signal to `path`. An existing file is replaced, and an open wave file is closed.
    ///
    /// # Errors
    /// [`ModelError::TraceNotBuilt`], or [`ModelError::Output`] when the file cannot be written.
    pub fn open_trace(&mut self, path: impl AsRef<Path>) -> Result<(), ModelError> {
        self.close_trace();
        let Some(trace) = &self.library.interface.trace else {
            return Err(ModelError::TraceNotBuilt {
                top: self.library.top.clone(),
            });
        };
        let file = writable(path.as_ref())?;
        // SAFETY: a live instance and a C string.
        if unsafe { (trace.open)(self.handle.as_ptr(), file.as_ptr()) } != 0 {
            return Err(self.output_error(path.as_ref()));
        }
        self.tracing = true;
        Ok(())
    }

    /// Finishes the wave file, if one is open. Dropping the model does the same.
    pub fn close_trace(&mut self) {
        if let (true, Some(trace)) = (self.tracing, &self.library.interface.trace) {
            // SAFETY: a live instance with an open trace.
            unsafe { (trace.close)(self.handle.as_ptr()) };
            self.tracing = false;
        }
    }

    /// Writes the line coverage counted so far to `path`, in the format of `verilator_coverage`.
    ///
    /// # Errors
    /// [`ModelError::CoverageNotBuilt`], or [`ModelError::Output`] when the file cannot be written.
    pub fn write_coverage(&self, path: impl AsRef<Path>) -> Result<(), ModelError> {
        let Some(write) = self.library.interface.coverage_write else {
            return Err(ModelError::CoverageNotBuilt {
                top: self.library.top.clone(),
            });
        };
        let file = writable(path.as_ref())?;
        // SAFETY: a live instance and a C string.
        if unsafe { write(self.handle.as_ptr(), file.as_ptr()) } != 0 {
            return Err(self.output_error(path.as_ref()));
        }
        Ok(())
    }

    /// Sets the time and settles the outputs for the present inputs. It does not panic when the Verilog stops itself.
    ///
    /// # Errors
    /// [`Stopped`], with the place in the Verilog. The model must not be used further.
    pub fn eval_to(&mut self, time: u64) -> Result<(), Stopped> {
        self.time_ps = time;
        // SAFETY: a live instance.
        if unsafe { (self.library.interface.eval)(self.handle.as_ptr(), time, ALL_GROUPS) } != 0 {
            return Err(Stopped(self.message()));
        }
        Ok(())
    }

    /// Writes the present values of all signals to the waves, if they are open, with the time of the last [`eval_to`](Self::eval_to).
    pub fn dump_waves(&self) {
        if self.tracing {
            self.dump(self.time_ps);
        }
    }

    #[inline]
    fn input(&self, port: PortId) -> &Slot {
        let slot = &self.ports[port.0];
        assert!(
            slot.writable,
            "port `{}` of `{}` is an output and cannot be set",
            self.library.ports[port.0].name, self.library.top
        );
        slot
    }

    /// Settles the outputs. `changed` has the groups of the inputs but the clock that have changed since the last evaluation.
    fn eval_at(&mut self, time_ps: u64, changed: u64) {
        let eval = self.library.interface.eval;
        // SAFETY: a live instance.
        if unsafe { eval(self.handle.as_ptr(), time_ps, changed) } != 0 {
            panic!(
                "model `{}` stopped at {time_ps} ps (cycle {}): {}",
                self.library.top,
                self.cycles,
                self.message()
            );
        }
    }

    fn dump(&self, time_ps: u64) {
        if let Some(trace) = &self.library.interface.trace {
            // SAFETY: called only while a trace is open.
            unsafe { (trace.dump)(self.handle.as_ptr(), time_ps) };
        }
    }

    fn message(&self) -> String {
        // SAFETY: the shim returns a string that lives until the next call on this instance.
        let message =
            unsafe { CStr::from_ptr((self.library.interface.message)(self.handle.as_ptr())) };
        message.to_string_lossy().into_owned()
    }

    fn output_error(&self, path: &Path) -> ModelError {
        ModelError::Output {
            path: path.to_path_buf(),
            reason: self.message(),
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.close_trace();
        if self.library.interface.coverage_write.is_some() {
            coverage::keep(self, &self.library.top);
        }
        // SAFETY: the instance is live and not used again; its code outlives it, because `library` is dropped after this.
        unsafe { (self.library.interface.delete)(self.handle.as_ptr()) };
    }
}

/// Creates the file and returns its name for C. Creating it here gives a clear reason if that is not possible.
fn writable(path: &Path) -> Result<CString, ModelError> {
    let refused = |reason: String| ModelError::Output {
        path: path.to_path_buf(),
        reason,
    };
    File::create(path).map_err(|error| refused(error.to_string()))?;
    CString::new(path.as_os_str().as_bytes())
        .map_err(|_| refused("the name contains a zero byte".into()))
}
