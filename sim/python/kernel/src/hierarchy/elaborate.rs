//! Building the tree from a model's ports or signals.

use std::collections::HashMap;

use sim_verilated::{Dir, Model, Signal, SignalKind, TopModule, TopPort};

use super::{node, Access, Hierarchy, Node, NodeId, NodeKind, Storage};
use crate::manifest::Manifest;

impl Hierarchy {
    pub(super) fn add_interface(&mut self, interface: &TopModule, model: &Model) {
        for port in &interface.ports {
            let id = model.port(&port.port.name).expect("built with this port");
            let access = access(port);
            self.add_value(
                self.top(),
                &port.port.name,
                (port.port.width, port.range),
                access,
                Storage::Signal(id),
            );
        }
        for parameter in &interface.parameters {
            let range = Some((parameter.width as i32 - 1, 0));
            self.add_value(
                self.top(),
                &parameter.name,
                (parameter.width, range),
                Access::Constant,
                Storage::Fixed(parameter.words.clone()),
            );
        }
    }

    pub(super) fn add_signals(&mut self, manifest: &Manifest, model: &Model, scopes: &[String]) {
        let ports: HashMap<&str, &TopPort> = manifest
            .interface
            .ports
            .iter()
            .map(|port| (port.port.name.as_str(), port))
            .collect();
        let inside = |scope: &str| {
            scope == manifest.top
                || scope
                    .strip_prefix(&manifest.top)
                    .is_some_and(|rest| rest.starts_with('.'))
        };
        // An input inside a module follows the port, and the port of an output follows the signal inside the module. A test gets the signal that the
        // other one follows.
        let leads = |signal: &Signal| match ports.get(signal.name.as_str()) {
            Some(port) if port.port.dir == Dir::Out => signal.scope == manifest.top,
            Some(_) => signal.scope == "TOP",
            None => signal.scope != "TOP",
        };
        let order = |outside: bool| {
            self.signals
                .iter()
                .enumerate()
                .filter(move |(_, signal)| (signal.scope == "TOP") == outside)
        };
        let all: Vec<(usize, Signal)> = order(true)
            .chain(order(false))
            .map(|(index, signal)| (index, signal.clone()))
            .collect();
        for (index, signal) in all {
            let at_top = signal.scope == "TOP" || signal.scope == manifest.top;
            if at_top && !leads(&signal) {
                continue;
            }
            let port = ports.get(signal.name.as_str()).filter(|_| at_top);
            let (parent, access) = if let Some(port) = port {
                (self.top(), access(port))
            } else if inside(&signal.scope) {
                let access = if signal.constant {
                    Access::Constant
                } else {
                    Access::Internal
                };
                (self.scope(&manifest.top, &signal.scope), access)
            } else {
                continue;
            };
            self.add_signal(parent, index, &signal, access, model);
        }
        for scope in scopes.iter().filter(|scope| inside(scope)) {
            self.scope(&manifest.top, scope);
        }
    }

    fn add_signal(
        &mut self,
        parent: NodeId,
        index: usize,
        signal: &Signal,
        access: Access,
        model: &Model,
    ) {
        let first = signal.element(0);
        let shape = (model.width(first), signal.range);
        if signal.array.is_some() {
            let mut added = node(&signal.name, NodeKind::Array);
            added.range = signal.array;
            added.width = signal.elements();
            added.access = access;
            added.array = Some(index);
            self.add(Some(parent), added);
        } else {
            let id = self.add_value(parent, &signal.name, shape, access, Storage::Signal(first));
            if signal.kind == SignalKind::Real {
                self.nodes[id.0 as usize].kind = NodeKind::Real;
            }
        }
    }

    /// The node of scope `path` under the top module. It is made, with those above it, if it does not exist.
    fn scope(&mut self, top: &str, path: &str) -> NodeId {
        let mut at = self.top();
        let Some(below) = path
            .strip_prefix(top)
            .and_then(|rest| rest.strip_prefix('.'))
        else {
            return at;
        };
        for part in below.split('.') {
            let array = part
                .strip_suffix(']')
                .and_then(|part| part.split_once('['))
                .and_then(|(name, index)| Some((name, index.parse::<i32>().ok()?)));
            if let Some((name, index)) = array {
                at = self.child_or(at, name, NodeKind::ModuleArray);
                let known = self.nodes[at.0 as usize].by_index.get(&index).copied();
                at = known.unwrap_or_else(|| {
                    let id = self.add(Some(at), node(part, NodeKind::Module));
                    self.note_index(at, index, id);
                    id
                });
            } else {
                at = self.child_or(at, part, NodeKind::Module);
            }
        }
        at
    }

    /// Adds `index` to the array `of`, and keeps its range.
    fn note_index(&mut self, of: NodeId, index: i32, id: NodeId) {
        let path = format!("{}[{index}]", self.path(of));
        self.nodes[id.0 as usize].path = path;
        let array = &mut self.nodes[of.0 as usize];
        array.by_index.insert(index, id);
        let (left, right) = array.range.unwrap_or((index, index));
        array.range = Some((left.min(index), right.max(index)));
        array.width = array.by_index.len();
    }

    fn child_or(&mut self, parent: NodeId, name: &str, kind: NodeKind) -> NodeId {
        match self.child(parent, name) {
            Some(id) => id,
            None => self.add(Some(parent), node(name, kind)),
        }
    }

    fn add_value(
        &mut self,
        parent: NodeId,
        name: &str,
        (width, range): (usize, Option<(i32, i32)>),
        access: Access,
        storage: Storage,
    ) -> NodeId {
        let kind = match range {
            Some(_) => NodeKind::Vector,
            None => NodeKind::Scalar,
        };
        let mut added = node(name, kind);
        (added.width, added.range) = (width, range);
        (added.access, added.storage) = (access, storage);
        self.add(Some(parent), added)
    }

    pub(super) fn add(&mut self, parent: Option<NodeId>, mut node: Node) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        if let Some(parent) = parent {
            node.path = format!("{}.{}", self.path(parent), node.name);
            let parent = &mut self.nodes[parent.0 as usize];
            parent.children.push(id);
            parent.by_name.insert(node.name.clone(), id);
        }
        self.nodes.push(node);
        id
    }
}

fn access(port: &TopPort) -> Access {
    match port.port.dir {
        Dir::Out if port.used => Access::Output,
        _ => Access::Input,
    }
}
