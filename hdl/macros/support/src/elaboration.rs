//! One run of a block's `hdl()`: which names its module already uses.
use std::collections::HashSet;

use rust_hdl_core::atom::Atom;
use rust_hdl_core::block::Block;
use rust_hdl_core::probe::Probe;

/// Verilog-2005 keywords that are legal Rust identifiers, so that a `let` may be called like one.
const VERILOG_KEYWORDS: &str = "always and assign automatic begin buf bufif0 bufif1 case casex casez cell cmos config \
    deassign default defparam design disable edge end endcase endconfig endfunction endgenerate endmodule endprimitive \
    endspecify endtable endtask event force forever fork function generate genvar highz0 highz1 ifnone incdir include \
    initial inout input instance integer join large liblist library localparam macromodule medium module nand negedge \
    nmos nor noshowcancelled not notif0 notif1 or output parameter pmos posedge primitive pull0 pull1 pulldown pullup \
    pulsestyle_onevent pulsestyle_ondetect rcmos real realtime reg release repeat rnmos rpmos rtran rtranif0 rtranif1 \
    scalared showcancelled signed small specify specparam strong0 strong1 supply0 supply1 table task time tran tranif0 \
    tranif1 tri tri0 tri1 triand trior trireg unsigned use uwire vectored wait wand weak0 weak1 wire wor xnor xor";

/// The names that one module uses. It supplies new names for the wires that `let` statements become.
pub struct Elaboration {
    used: HashSet<String>,
}

impl Elaboration {
    /// Starts the elaboration of `block`: the names of its signals and children are taken.
    pub fn of<B: Block>(block: &B) -> Self {
        let mut names = ModuleNames {
            depth: 0,
            names: VERILOG_KEYWORDS
                .split_whitespace()
                .map(str::to_string)
                .collect(),
        };
        block.accept("top", &mut names);
        Self { used: names.names }
    }

    /// `name` itself if it is free, else the first free one of `name_1`, `name_2`, ...
    pub fn fresh(&mut self, name: &str) -> String {
        let mut candidate = name.to_string();
        let mut version = 0;
        while !self.used.insert(candidate.clone()) {
            version += 1;
            candidate = format!("{name}_{version}");
        }
        candidate
    }
}

/// Collects the signals of the outermost scope and the instance names of its children.
struct ModuleNames {
    depth: usize,
    names: HashSet<String>,
}

impl Probe for ModuleNames {
    fn visit_start_scope(&mut self, name: &str, _node: &dyn Block) {
        if self.depth == 1 {
            self.names.insert(name.to_string());
        }
        self.depth += 1;
    }
    fn visit_atom(&mut self, name: &str, _signal: &dyn Atom) {
        if self.depth == 1 {
            self.names.insert(name.to_string());
        }
    }
    fn visit_end_scope(&mut self, _name: &str, _node: &dyn Block) {
        self.depth -= 1;
    }
}
