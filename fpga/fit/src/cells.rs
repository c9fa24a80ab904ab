//! The cells of UltraScale+ that Yosys maps to: what each costs, where paths begin and end, and what a path through it counts.

/// What a path through or out of a cell counts, in half levels: a LUT is one level, and a multiplexer beside the LUTs (MUXF7 to 9) half of one. Carry
/// cells count nothing, as in `docs/area.md`.
pub(crate) const LEVEL: u32 = 2;
pub(crate) const MUXF: u32 = 1;
/// A block RAM without its output register: clock to output is about that of four levels.
pub(crate) const BLOCK_RAM_START: u32 = 4 * LEVEL;
/// An UltraRAM without its output register.
pub(crate) const ULTRA_RAM_START: u32 = 5 * LEVEL;
/// A multiplier without registers.
const MULTIPLIER: u32 = 5 * LEVEL;

/// How a cell behaves on a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Role {
    /// Outputs follow inputs; half levels.
    Through(u32),
    /// Paths end at its inputs and begin at its outputs with so many half levels.
    Register(u32),
    /// A memory of LUTs: written with a clock, read through.
    LutRam,
    /// Nothing on a path: constants, buffers of clocks.
    Nothing,
    /// An instance of another unit.
    Instance,
}

/// The role of a cell. `registered`: a register stands on the way through a multiplier.
pub(crate) fn role(kind: &str, registered: bool) -> Role {
    match kind {
        _ if kind.starts_with("LUT") => Role::Through(LEVEL),
        "MUXF5" | "MUXF6" | "MUXF7" | "MUXF8" | "MUXF9" => Role::Through(MUXF),
        _ if kind.starts_with("CARRY") => Role::Through(0),
        "INV" | "BUF" => Role::Through(0),
        "VCC" | "GND" => Role::Nothing,
        _ if kind.starts_with("RAMB") => Role::Register(BLOCK_RAM_START),
        _ if kind.starts_with("URAM") => Role::Register(ULTRA_RAM_START),
        _ if kind.starts_with("RAM") => Role::LutRam,
        _ if kind.starts_with("DSP") && !registered => Role::Through(MULTIPLIER),
        _ if ["FD", "LD", "SRL", "DSP"]
            .iter()
            .any(|p| kind.starts_with(p)) =>
        {
            Role::Register(0)
        }
        _ => Role::Instance,
    }
}

/// Whether ABC chose the cell. It sees nothing else of a module.
pub(crate) fn is_chosen(kind: &str) -> bool {
    ["LUT", "MUXF", "INV", "BUF"]
        .iter()
        .any(|p| kind.starts_with(p))
}

/// Whether signals come to ABC's logic from the cell other than with the clock, or are needed there earlier than at a register.
pub(crate) fn is_border(kind: &str) -> bool {
    match role(kind, false) {
        Role::Instance | Role::LutRam => true,
        Role::Register(levels) => levels > 0,
        Role::Through(_) => !is_chosen(kind),
        Role::Nothing => false,
    }
}

/// What drives a net.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Driver {
    /// A flip-flop, or a shift register: where one drives 100 loads or more, Vivado's `opt_design` makes a flip-flop of its last stage (UG904, Shift Register Optimization).
    Register,
    /// A LUT.
    Lut,
    /// A carry chain, a memory, a multiplier, or a port. A placer cannot replicate it; nor a multiplexer beside the LUTs, of which a LUT is made if it has many loads.
    Other,
}

/// What a cell is to the nets that it drives.
pub(crate) fn driver(kind: &str) -> Driver {
    match kind {
        _ if kind.starts_with("FD") || kind.starts_with("SRL") => Driver::Register,
        _ if kind.starts_with("LUT") => Driver::Lut,
        _ => Driver::Other,
    }
}

/// Whether the pin is a clock, which is no load of the fabric and no end of a path.
pub(crate) fn is_clock(kind: &str, pin: &str) -> bool {
    (kind.starts_with("FD") && pin == "C") || pin.contains("CLK")
}

/// Whether an address pin of a memory of LUTs selects what is at `output`: `ADDRA` is that of `DOA`, `DPRA0` of `DPO`, `A0` of `SPO` and `O`.
pub(crate) fn selects(pin: &str, output: &str) -> bool {
    match (pin.strip_prefix("ADDR"), output.strip_prefix("DO")) {
        (Some(port), Some(of)) => port == of,
        _ if output == "DPO" => pin.starts_with("DPRA"),
        _ => pin.starts_with('A') && !pin.starts_with("ADDR"),
    }
}

/// Cells of the device.
#[derive(Clone, Copy, Default, PartialEq, Debug, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Area {
    /// LUTs, those used as memory and as shift registers included.
    pub lut: u64,
    /// Flip-flops.
    pub ff: u64,
    /// Block RAMs of 36 Kbit; one of 18 Kbit is a half.
    pub bram: f64,
    /// UltraRAMs, as Vivado counts them: 4,096 words of 72 bits each.
    pub uram: u64,
    /// DSP slices.
    pub dsp: u64,
}

impl Area {
    /// Adds `other`.
    pub fn add(&mut self, other: &Self) {
        self.lut += other.lut;
        self.ff += other.ff;
        self.bram += other.bram;
        self.uram += other.uram;
        self.dsp += other.dsp;
    }
}

/// What a cell occupies. UltraRAMs are counted by the declared memories, because Yosys packs them in a way that Vivado does not.
pub(crate) fn area(kind: &str) -> Area {
    let lut = |lut| Area {
        lut,
        ..Area::default()
    };
    match kind {
        _ if kind.starts_with("LUT") || kind.starts_with("SRL") => lut(1),
        "RAM32M16" | "RAM64M8" | "RAM512X1S" | "RAM256X1D" => lut(8),
        "RAM32M" | "RAM64M" | "RAM128X1D" | "RAM256X1S" => lut(4),
        "RAM32X1D" | "RAM64X1D" | "RAM128X1S" | "RAM32X2S" => lut(2),
        _ if kind.starts_with("RAMB36") => Area {
            bram: 1.0,
            ..Area::default()
        },
        _ if kind.starts_with("RAMB18") => Area {
            bram: 0.5,
            ..Area::default()
        },
        _ if kind.starts_with("RAM") => lut(1),
        _ if kind.starts_with("FD") || kind.starts_with("LD") => Area {
            ff: 1,
            ..Area::default()
        },
        _ if kind.starts_with("DSP") => Area {
            dsp: 1,
            ..Area::default()
        },
        _ => Area::default(),
    }
}

/// The value of `ram_style` that a memory's cell stands for.
pub(crate) fn style(kind: &str) -> Option<&'static str> {
    match kind {
        _ if kind.starts_with("RAMB") => Some("block"),
        _ if kind.starts_with("URAM") => Some("ultra"),
        _ if kind.starts_with("RAM") => Some("distributed"),
        _ => None,
    }
}
