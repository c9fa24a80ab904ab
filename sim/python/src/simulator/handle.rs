//! Handles: the objects of a design as cocotb sees them.

use pyo3::exceptions::{PyAttributeError, PyKeyError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyInt};
use sim_kernel::{bit_string, parse_bits, Access, Action, NodeId, NodeKind, WriteError};
use sim_verilated::PortId;

use crate::simulation::{self, Simulation};
use crate::simulator::{object, RANGE_DOWN, RANGE_NO_DIR, RANGE_UP};

pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<Handle>()?;
    module.add_class::<HandleIterator>()?;
    for function in [
        wrap_pyfunction!(get_root_handle, module)?,
        wrap_pyfunction!(root_iterate, module)?,
        wrap_pyfunction!(package_iterate, module)?,
    ] {
        module.add_function(function)?;
    }
    Ok(())
}

/// cocotb's number of a kind of write.
pub fn action(number: u8) -> PyResult<Action> {
    match number {
        0 => Ok(Action::Deposit),
        1 => Ok(Action::Force),
        2 => Ok(Action::Release),
        3 => Ok(Action::Immediate),
        other => Err(PyValueError::new_err(format!("{other} is no way to write"))),
    }
}

fn refused(error: WriteError) -> PyErr {
    PyTypeError::new_err(error.to_string())
}

/// An object of the design.
#[pyclass(name = "sim_obj", module = "cocotb.simulator", frozen, eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub struct Handle {
    id: NodeId,
}

impl Handle {
    fn with<R>(&self, action: impl FnOnce(&mut Simulation) -> R) -> PyResult<R> {
        simulation::with(action)
    }

    fn try_signal(s: &Simulation, id: NodeId) -> Result<PortId, WriteError> {
        s.hierarchy.signal(id).ok_or_else(|| WriteError::NoValue {
            path: s.hierarchy.path(id).to_owned(),
        })
    }

    /// The location of the value.
    pub fn signal(&self) -> PyResult<PortId> {
        self.with(|s| Self::try_signal(s, self.id))?
            .map_err(refused)
    }

    /// The location of the value of a signal that may be written.
    pub fn writable(&self) -> PyResult<PortId> {
        self.with(|s| target(s, self.id, Action::Deposit))?
            .map_err(refused)
    }

    /// The value as 32-bit words, lowest first, and its width.
    fn words(&self) -> PyResult<(Vec<u32>, usize)> {
        self.with(|s| {
            let width = s.hierarchy.length(self.id);
            if let Some(words) = s.hierarchy.fixed(self.id) {
                return Ok((words.to_vec(), width));
            }
            let signal = Self::try_signal(s, self.id)?;
            Ok((s.kernel.model().get_words(signal).to_vec(), width))
        })?
        .map_err(refused)
    }

    fn write(&self, action: Action, words: &[u32]) -> PyResult<()> {
        self.with(|s| {
            let signal = target(s, self.id, action)?;
            s.kernel.write(signal, action, words);
            Ok(())
        })?
        .map_err(refused)
    }
}

/// The location for a write of this kind, if it is permitted.
fn target(s: &Simulation, id: NodeId, action: Action) -> Result<PortId, WriteError> {
    let path = || s.hierarchy.path(id).to_owned();
    match s.hierarchy.access(id) {
        Access::Constant => return Err(WriteError::Constant { path: path() }),
        Access::Output if matches!(action, Action::Deposit | Action::Immediate) => {
            return Err(WriteError::Output { path: path() })
        }
        _ => {}
    }
    Handle::try_signal(s, id)
}

/// Whether the calling Python function looks for a missing child on behalf of `handle.name` or `handle[name]`. These raise an error; other callers
/// only test whether the child exists.
fn asker(py: Python<'_>) -> PyResult<Option<String>> {
    let mut frame = py.import("sys")?.call_method1("_getframe", (0,))?;
    for _ in 0..4 {
        let name: String = frame.getattr("f_code")?.getattr("co_name")?.extract()?;
        match name.as_str() {
            "__getattr__" | "__getitem__" => return Ok(Some(name)),
            "_get" | "_get_handle_by_key" => frame = frame.getattr("f_back")?,
            _ => break,
        }
    }
    Ok(None)
}

#[pymethods]
impl Handle {
    fn get_const(&self) -> PyResult<bool> {
        self.with(|s| s.hierarchy.access(self.id) == Access::Constant)
    }

    fn get_definition_file(&self) -> &'static str {
        ""
    }

    fn get_definition_name(&self) -> PyResult<String> {
        self.with(|s| {
            if self.id == s.hierarchy.top() {
                s.manifest.top.clone()
            } else {
                String::new()
            }
        })
    }

    fn get_name_string(&self) -> PyResult<String> {
        self.with(|s| s.hierarchy.name(self.id).to_owned())
    }

    fn get_type(&self) -> PyResult<u8> {
        self.with(|s| match s.hierarchy.kind(self.id) {
            NodeKind::Module => object::MODULE,
            NodeKind::ModuleArray => object::GENARRAY,
            NodeKind::Scalar => object::LOGIC,
            NodeKind::Vector => object::PACKED,
            NodeKind::Real => object::REAL,
            NodeKind::Array => object::NETARRAY,
        })
    }

    fn get_type_string(&self) -> PyResult<&'static str> {
        self.with(|s| match s.hierarchy.kind(self.id) {
            NodeKind::Module => "GPI_MODULE",
            NodeKind::ModuleArray => "GPI_GENARRAY",
            NodeKind::Scalar => "GPI_LOGIC",
            NodeKind::Vector => "GPI_PACKED",
            NodeKind::Real => "GPI_REAL",
            NodeKind::Array => "GPI_ARRAY",
        })
    }

    fn get_indexable(&self) -> PyResult<bool> {
        self.with(|s| {
            matches!(
                s.hierarchy.kind(self.id),
                NodeKind::Vector | NodeKind::Array
            )
        })
    }

    fn get_num_elems(&self) -> PyResult<usize> {
        self.with(|s| s.hierarchy.length(self.id))
    }

    /// Left bound, right bound and direction of the declared range.
    fn get_range(&self) -> PyResult<(i32, i32, i8)> {
        self.with(|s| match s.hierarchy.range(self.id) {
            Some((left, right)) if left < right => (left, right, RANGE_UP),
            Some((left, right)) => (left, right, RANGE_DOWN),
            None => (0, 0, RANGE_NO_DIR),
        })
    }

    /// Always returns unsigned, because Verilator's tables do not distinguish signed from unsigned.
    fn get_signed(&self) -> i8 {
        0
    }

    fn get_handle_by_index(&self, index: i32) -> PyResult<Option<Handle>> {
        self.with(|s| s.hierarchy.element(self.id, index).map(|id| Handle { id }))
    }

    /// Returns the child `name`, or None. If a test requested it as an attribute or a key, a missing child raises an error with the most similar
    /// names.
    #[pyo3(signature = (name, discovery_method=None))]
    fn get_handle_by_name(
        &self,
        py: Python<'_>,
        name: &str,
        discovery_method: Option<Bound<'_, PyAny>>,
    ) -> PyResult<Option<Handle>> {
        let _ = discovery_method; // one way of finding a child is all there is
        let name = name.trim_matches('\\');
        if let Some(id) = self.with(|s| s.hierarchy.child(self.id, name))? {
            return Ok(Some(Handle { id }));
        }
        let Some(asker) = asker(py)? else {
            return Ok(None);
        };
        let message = self.with(|s| {
            let path = s.hierarchy.path(self.id);
            let closest = s.hierarchy.closest(self.id, name);
            let hint = match closest.is_empty() {
                false => format!("; closest: {}", closest.join(", ")),
                true if s.manifest.signals => String::new(),
                true => "; this model was built with signals=\"ports\", which leaves internal signals out".to_owned(),
            };
            format!("{path} contains no child object named {name}{hint}")
        })?;
        Err(match asker.as_str() {
            "__getitem__" => PyKeyError::new_err(message),
            _ => PyAttributeError::new_err(message),
        })
    }

    fn iterate(&self, mode: u8) -> PyResult<HandleIterator> {
        let _ = mode; // cocotb only asks for objects
        self.with(|s| HandleIterator {
            ids: match s.hierarchy.kind(self.id) {
                NodeKind::Array => elements(s, self.id),
                _ => s.hierarchy.children(self.id).to_vec(),
            }
            .into_iter(),
        })
    }

    /// The value, most significant bit first.
    fn get_signal_val_binstr(&self) -> PyResult<String> {
        let (words, width) = self.words()?;
        Ok(bit_string(&words, width))
    }

    fn get_signal_val_long<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let (words, _) = self.words()?;
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        py.get_type::<PyInt>()
            .call_method1("from_bytes", (PyBytes::new(py, &bytes), "little"))
    }

    fn get_signal_val_real(&self) -> PyResult<f64> {
        let signal = self.signal()?;
        self.with(|s| f64::from_bits(s.kernel.model().get_u64(signal)))
    }

    /// The characters of a packed string, leading zero bytes left out.
    fn get_signal_val_str<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let (words, _) = self.words()?;
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.reverse();
        let first = bytes
            .iter()
            .position(|&byte| byte != 0)
            .unwrap_or(bytes.len());
        Ok(PyBytes::new(py, &bytes[first..]))
    }

    fn set_signal_val_binstr(&self, action: u8, value: &str) -> PyResult<()> {
        let width = self.with(|s| s.hierarchy.length(self.id))?;
        let words =
            parse_bits(value, width).map_err(|error| PyValueError::new_err(error.to_string()))?;
        self.write(self::action(action)?, &words)
    }

    /// Sets an integer, signed or unsigned. cocotb has checked that it fits.
    fn set_signal_val_int(&self, action: u8, value: i64) -> PyResult<()> {
        let words = [value as u32, (value >> 32) as u32];
        self.write(self::action(action)?, &words)
    }

    fn set_signal_val_real(&self, action: u8, value: f64) -> PyResult<()> {
        let bits = value.to_bits();
        self.write(self::action(action)?, &[bits as u32, (bits >> 32) as u32])
    }

    fn set_signal_val_str(&self, action: u8, value: &[u8]) -> PyResult<()> {
        let mut bytes: Vec<u8> = value.iter().rev().copied().collect();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let words: Vec<u32> = bytes
            .chunks_exact(4)
            .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
            .collect();
        self.write(self::action(action)?, &words)
    }
}

/// All elements of an array, from its left bound to its right.
fn elements(s: &mut Simulation, array: NodeId) -> Vec<NodeId> {
    let Some((left, right)) = s.hierarchy.range(array) else {
        return vec![];
    };
    let indices: Vec<i32> = if left <= right {
        (left..=right).collect()
    } else {
        (right..=left).rev().collect()
    };
    indices
        .into_iter()
        .filter_map(|index| s.hierarchy.element(array, index))
        .collect()
}

/// Children of an object, one after the other.
#[pyclass(name = "sim_obj_iterator", module = "cocotb.simulator")]
struct HandleIterator {
    ids: std::vec::IntoIter<NodeId>,
}

#[pymethods]
impl HandleIterator {
    fn __iter__(iterator: PyRef<'_, Self>) -> PyRef<'_, Self> {
        iterator
    }

    fn __next__(&mut self) -> Option<Handle> {
        self.ids.next().map(|id| Handle { id })
    }
}

/// The top module, if it is called `name`.
#[pyfunction]
#[pyo3(signature = (name=None))]
fn get_root_handle(name: Option<&str>) -> PyResult<Option<Handle>> {
    simulation::with(|s| {
        let id = s.hierarchy.top();
        let found = name.is_none_or(|name| name == s.hierarchy.name(id));
        found.then_some(Handle { id })
    })
}

#[pyfunction]
fn root_iterate() -> PyResult<HandleIterator> {
    simulation::with(|s| HandleIterator {
        ids: vec![s.hierarchy.top()].into_iter(),
    })
}

/// Returns none, because a model does not keep packages.
#[pyfunction]
fn package_iterate() -> Option<HandleIterator> {
    None
}
