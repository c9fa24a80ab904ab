//! The tree of instances and signals of a model.

use std::collections::HashMap;

use sim_verilated::{Model, PortId, Signal};

use crate::manifest::Manifest;

mod elaborate;

/// A node of a [`Hierarchy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct NodeId(pub u32);

/// The kind of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A module instance or named block.
    Module,
    /// The blocks of a generate loop, or an array of instances.
    ModuleArray,
    /// A single bit declared without a range.
    Scalar,
    /// Bits declared with a range.
    Vector,
    /// A `real`.
    Real,
    /// An array of one unpacked dimension.
    Array,
}

/// Who may write a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// An input or inout of the top module, or an output that the module does not use.
    Input,
    /// An output that the top module drives.
    Output,
    /// A signal inside the design.
    Internal,
    /// A parameter.
    Constant,
}

/// The place of a node's value.
#[derive(Clone, Debug)]
enum Storage {
    None,
    /// A signal that the model stores.
    Signal(PortId),
    /// Not in the model: a parameter that the model does not keep.
    Fixed(Vec<u32>),
}

#[derive(Clone, Debug)]
struct Node {
    name: String,
    path: String,
    kind: NodeKind,
    range: Option<(i32, i32)>,
    width: usize,
    access: Access,
    storage: Storage,
    /// The signal of an array.
    array: Option<usize>,
    children: Vec<NodeId>,
    by_name: HashMap<String, NodeId>,
    by_index: HashMap<i32, NodeId>,
}

/// All instances and signals that can be reached by name. Elements of arrays become nodes when they are looked up.
#[derive(Debug)]
pub struct Hierarchy {
    nodes: Vec<Node>,
    signals: Vec<Signal>,
}

impl Hierarchy {
    /// The tree of `model`, which was built as `manifest` describes.
    pub fn new(manifest: &Manifest, model: &mut Model) -> Self {
        let mut tree = Self {
            nodes: vec![],
            signals: vec![],
        };
        tree.add(None, node(&manifest.top, NodeKind::Module));
        if manifest.signals {
            let (scopes, signals) = model.signals();
            tree.signals = signals;
            tree.add_signals(manifest, model, &scopes);
        } else {
            tree.add_interface(&manifest.interface, model);
        }
        tree
    }

    /// The top module.
    pub fn top(&self) -> NodeId {
        NodeId(0)
    }

    fn get(&self, id: NodeId) -> &Node {
        &self.nodes[id.0 as usize]
    }

    /// The child called `name`: a signal, an instance, or a block of a generate loop as `name[index]`.
    pub fn child(&self, of: NodeId, name: &str) -> Option<NodeId> {
        if let Some(&id) = self.get(of).by_name.get(name) {
            return Some(id);
        }
        let (array, index) = name.strip_suffix(']')?.split_once('[')?;
        let array = *self.get(of).by_name.get(array)?;
        self.get(array).by_index.get(&index.parse().ok()?).copied()
    }

    /// Element `index` of an array, or block `index` of a generate loop.
    pub fn element(&mut self, of: NodeId, index: i32) -> Option<NodeId> {
        if let Some(&id) = self.get(of).by_index.get(&index) {
            return Some(id);
        }
        let array = self.get(of);
        let signal = &self.signals[array.array?];
        let (left, right) = array.range?;
        let low = left.min(right);
        if !(low..=left.max(right)).contains(&index) {
            return None;
        }
        let mut added = node(
            &format!("{}[{index}]", array.name),
            match signal.range {
                Some(_) => NodeKind::Vector,
                None => NodeKind::Scalar,
            },
        );
        added.range = signal.range;
        added.width = signal.range.map_or(1, |(l, r)| l.abs_diff(r) as usize + 1);
        added.access = array.access;
        added.storage = Storage::Signal(signal.element((index - low) as usize));
        added.path = format!("{}[{index}]", array.path);
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(added);
        self.nodes[of.0 as usize].by_index.insert(index, id);
        Some(id)
    }

    /// Children in the order of their declaration; elements of an array are not among them.
    pub fn children(&self, of: NodeId) -> &[NodeId] {
        &self.get(of).children
    }

    /// Names of children most like `name`, best first, at most three.
    pub fn closest(&self, of: NodeId, name: &str) -> Vec<String> {
        let mut names: Vec<(f64, &str)> = self
            .get(of)
            .children
            .iter()
            .map(|&child| self.get(child).name.as_str())
            .map(|known| (strsim::jaro_winkler(name, known), known))
            .filter(|(likeness, _)| *likeness > 0.6)
            .collect();
        names.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(b.1)));
        names.iter().take(3).map(|(_, n)| (*n).to_owned()).collect()
    }

    /// Name within its parent.
    pub fn name(&self, id: NodeId) -> &str {
        &self.get(id).name
    }

    /// Name from the top module down.
    pub fn path(&self, id: NodeId) -> &str {
        &self.get(id).path
    }

    /// The kind of the node.
    pub fn kind(&self, id: NodeId) -> NodeKind {
        self.get(id).kind
    }

    /// Who may write it.
    pub fn access(&self, id: NodeId) -> Access {
        self.get(id).access
    }

    /// Declared range, left and right: bits of a vector, indices of an array.
    pub fn range(&self, id: NodeId) -> Option<(i32, i32)> {
        self.get(id).range
    }

    /// Bits of a signal, elements of an array, children of a module.
    pub fn length(&self, id: NodeId) -> usize {
        match self.get(id).kind {
            NodeKind::Module => self.get(id).children.len(),
            _ => self.get(id).width,
        }
    }

    /// The place of the value, for a node with a value in the model.
    pub fn signal(&self, id: NodeId) -> Option<PortId> {
        match self.get(id).storage {
            Storage::Signal(signal) => Some(signal),
            _ => None,
        }
    }

    /// The value of a parameter that the model does not keep, as 32-bit words, lowest first.
    pub fn fixed(&self, id: NodeId) -> Option<&[u32]> {
        match &self.get(id).storage {
            Storage::Fixed(words) => Some(words),
            _ => None,
        }
    }
}

fn node(name: &str, kind: NodeKind) -> Node {
    Node {
        name: name.to_owned(),
        path: name.to_owned(),
        kind,
        range: None,
        width: 0,
        access: Access::Internal,
        storage: Storage::None,
        array: None,
        children: vec![],
        by_name: HashMap::new(),
        by_index: HashMap::new(),
    }
}
