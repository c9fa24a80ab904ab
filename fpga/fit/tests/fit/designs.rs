//! The designs that the tests map, with every module as a unit of its own.

use std::sync::OnceLock;

use stellar_fit::{Design, Division, FitError, Limits, Module, Options, Report};

/// An AND of six bits is one LUT. `front` has a register and one LUT behind it, `middle` two, `back` one and the register where the path ends: four levels
/// through three modules. Bit 5 of the input of `middle` is constant, `unused` is read by nobody, and `straight` goes
/// through without a cell, because of the constant.
const CHAIN: [(&str, &str); 4] = [
    (
        "front",
        "module front (
  input wire clock,
  input wire [5:0] in,
  output wire [4:0] out,
  output reg [7:0] unused
);
  reg [5:0] held;
  always @(posedge clock) begin
    held <= in;
    unused <= unused + in;
  end
  assign out = {5{&held}} ^ {held[0], held[1], held[2], held[3], held[4]};
endmodule
",
    ),
    (
        "middle",
        "module middle (
  input wire [5:0] in,
  input wire [4:0] other,
  input wire [1:0] straight_in,
  output wire out,
  output wire [1:0] straight_out
);
  assign out = &{&in, other};
  assign straight_out = straight_in & {2{in[5]}};
endmodule
",
    ),
    (
        "back",
        "module back (
  input wire clock,
  input wire in,
  input wire [5:0] other,
  output reg [699:0] many
);
  reg last;
  always @(posedge clock) begin
    last <= &{in, other[4:0]};
    many <= many ^ {700{last}};
  end
endmodule
",
    ),
    (
        "chain",
        "module chain (
  input wire clock,
  input wire [5:0] in,
  input wire [4:0] other,
  input wire [1:0] address,
  input wire [699:0] data,
  output wire [699:0] many,
  output wire [699:0] read,
  output wire [1:0] straight
);
  wire [4:0] first;
  wire second;
  wire [7:0] unused;
  reg [4:0] delayed;
  always @(posedge clock) delayed <= other;
  front u_front (
    .clock(clock), .in(in), .out(first), .unused(unused)
  );
  middle u_middle (
    .in({1'b1, first}), .other(delayed), .straight_in(address), .out(second), .straight_out(straight)
  );
  back u_back (
    .clock(clock), .in(second), .other({1'b0, delayed}), .many(many)
  );
  store u_store (
    .clock(clock), .address(straight), .data(data[35:0]), .read(read[35:0])
  );
  assign read[699:36] = 0;
endmodule
",
    ),
];

/// A memory that is read without a clock, so that it can only be one of LUTs.
const STORE: &str = "module store (
  input wire clock,
  input wire [1:0] address,
  input wire [35:0] data,
  output wire [35:0] read
);
  (* ram_style = \"STYLE\" *) reg [35:0] memory [0:3];
  always @(posedge clock) memory[address] <= data;
  assign read = memory[address];
endmodule
";

/// Two modules whose outputs follow each other's without a register.
const LOOP: &str = "module half (
  input wire in,
  input wire other,
  output wire out
);
  assign out = in ^ other;
endmodule
";
const LOOP_TOP: &str = "module ring (
  input wire other,
  output wire out
);
  wire there;
  half u_a (
    .in(out), .other(other), .out(there)
  );
  half u_b (
    .in(there), .other(other), .out(out)
  );
endmodule
";

/// Two equal registers that clear 600 others each.
const TWIN: &str = "(* keep_hierarchy = \"yes\" *)
module twin (
  input wire clock,
  input wire in,
  output wire out
);
  reg held;
  always @(posedge clock) held <= in;
  assign out = held;
endmodule
";
const TWINS: &str = "module twins (
  input wire clock,
  input wire reset,
  input wire [599:0] in,
  output reg [599:0] one,
  output reg [599:0] other
);
  wire a;
  wire b;
  twin u_a (
    .clock(clock), .in(reset), .out(a)
  );
  twin u_b (
    .clock(clock), .in(reset), .out(b)
  );
  always @(posedge clock) one <= a ? 600'd0 : in;
  always @(posedge clock) other <= b ? 600'd0 : ~in;
endmodule
";

/// The parity of 64 bits. With functions of eight inputs it is two of them deep, which count two levels each; with LUTs alone it is three deep.
const PARITY: &str = "module parity (
  input wire clock,
  input wire [63:0] in,
  output reg odd
);
  reg [63:0] held;
  always @(posedge clock) held <= in;
  always @(posedge clock) odd <= ^held;
endmodule
";

/// Registers and a block RAM, which comes four levels later, before an AND of 68 bits. That is three LUTs deep, and the memory needs only the last two.
const TABLE: &str = "module table (
  input wire clock,
  input wire write,
  input wire [8:0] address,
  input wire [3:0] data,
  output reg [3:0] read
);
  (* ram_style = \"block\" *) reg [3:0] memory [0:511];
  always @(posedge clock) begin
    if (write) memory[address] <= data;
    read <= memory[address];
  end
endmodule
";
const LATE: &str = "module late (
  input wire clock,
  input wire write,
  input wire [63:0] in,
  output reg all
);
  wire [3:0] read;
  reg [63:0] held;
  always @(posedge clock) held <= in;
  table u_table (
    .clock(clock), .write(write), .address(in[8:0]), .data(in[63:60]), .read(read)
  );
  always @(posedge clock) all <= &{held, read};
endmodule
";

/// Four parities of 64 bits from registers, three levels; and an AND of 68 bits with them in another unit. That is three LUTs deep, and the parities need only the last two.
const PARITIES: &str = "module parities (
  input wire clock,
  input wire [63:0] in,
  output wire [3:0] odd
);
  reg [63:0] held;
  always @(posedge clock) held <= in;
  assign odd = {^held, ^(held ^ 64'h5), ^(held & 64'hfffffffffffffff0), ^(held & 64'h0fffffffffffffff)};
endmodule
";
const BEHIND: &str = "module behind (
  input wire clock,
  input wire [63:0] in,
  input wire [3:0] odd,
  output reg all
);
  reg [63:0] held;
  always @(posedge clock) held <= in;
  always @(posedge clock) all <= &{held, odd};
endmodule
";
const BORDER: &str = "module border (
  input wire clock,
  input wire [63:0] in,
  output wire all
);
  wire [3:0] odd;
  parities u_parities (
    .clock(clock), .in(in), .odd(odd)
  );
  behind u_behind (
    .clock(clock), .in(in), .odd(odd), .all(all)
  );
endmodule
";

/// A chain of 24 conditions, each of which asks the next one.
const CONDITIONS: &str = "module conditions (
  input wire clock,
  input wire [47:0] in,
  output reg out
);
  reg [47:0] held;
  wire [24:0] asked;
  assign asked[24] = held[0] ^ held[1];
  genvar n;
  generate for (n = 0; n < 24; n = n + 1) begin : each
    assign asked[n] = held[2 * n] & (held[2 * n + 1] | asked[n + 1]);
  end endgenerate
  always @(posedge clock) begin
    held <= in;
    out <= asked[0];
  end
endmodule
";

/// The parity of 7 bits, two LUTs and a multiplexer beside them, clears 600 registers.
const WIDE: &str = "module wide (
  input wire clock,
  input wire [6:0] in,
  input wire [599:0] data,
  output reg [599:0] many
);
  reg [6:0] held;
  always @(posedge clock) begin
    held <= in;
    many <= ^held ? 600'd0 : data;
  end
endmodule
";

/// A delay of four cycles, a shift register, clears 600 registers.
const DELAYED: &str = "module delayed (
  input wire clock,
  input wire in,
  input wire [599:0] data,
  output reg [599:0] many
);
  reg [3:0] line;
  always @(posedge clock) begin
    line <= {line[2:0], in};
    many <= line[3] ? 600'd0 : data;
  end
endmodule
";

fn modules(all: &[(&str, &str)]) -> Vec<Module> {
    let module = |(name, text): &(&str, &str)| Module {
        name: (*name).into(),
        text: (*text).into(),
    };
    all.iter().map(module).collect()
}

/// Every module is a unit.
const EACH: Division = Division {
    largest: 0,
    smallest: 0,
};

pub const LIMITS: Limits = Limits {
    levels: 3,
    loads: 500,
    paths: 10,
    depth: 1,
};

/// How the tests map.
fn options<'a>(yosys: &'a str, cache: &'a std::path::Path, division: Division) -> Options<'a> {
    Options {
        yosys,
        cache,
        jobs: 2,
        division,
        levels: LIMITS.levels,
        loads: LIMITS.loads,
        rounds: 0,
    }
}

pub fn map(
    modules: &[Module],
    top: &str,
    yosys: &str,
    cache: &std::path::Path,
) -> Result<Design, FitError> {
    Design::map(modules, top, &options(yosys, cache, EACH), &|_| {})
}

/// The design of three modules in a row, measured; and the runs of Yosys that it took at first, and a second time.
pub fn chain() -> &'static (Report, usize, usize) {
    static CHAIN_REPORT: OnceLock<(Report, usize, usize)> = OnceLock::new();
    CHAIN_REPORT.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        // Yosys chooses the style, which is not what the module says.
        let store = STORE.replace("STYLE", "auto");
        let modules = modules(&[&CHAIN[..], &[("store", store.as_str())]].concat());
        let first = map(&modules, "chain", "yosys", folder.path()).expect("mapped");
        let again = map(&modules, "chain", "yosys", folder.path()).expect("mapped");
        let report = again.measure(LIMITS).expect("measured");
        (report, first.runs, again.runs)
    })
}

/// A design, measured.
fn measured(all: &[(&str, &str)], top: &str) -> Result<Report, FitError> {
    let folder = tempfile::tempdir().expect("a folder");
    map(&modules(all), top, "yosys", folder.path())?.measure(LIMITS)
}

/// The parity of 64 bits, measured.
pub fn parity() -> Report {
    measured(&[("parity", PARITY)], "parity").expect("measured")
}

/// A multiplexer with 600 loads, measured, if a net may have so many.
pub fn wide(loads: u32) -> Report {
    let folder = tempfile::tempdir().expect("a folder");
    let design = map(&modules(&[("wide", WIDE)]), "wide", "yosys", folder.path());
    let limits = Limits { loads, ..LIMITS };
    design
        .and_then(|design| design.measure(limits))
        .expect("measured")
}

/// A shift register with 600 loads, measured.
pub fn delayed() -> Report {
    measured(&[("delayed", DELAYED)], "delayed").expect("measured")
}

/// What follows a block RAM, measured.
pub fn late() -> Report {
    measured(&[("table", TABLE), ("late", LATE)], "late").expect("measured")
}

/// A late signal over a border of units, measured after so many rounds; and the runs of Yosys that it took in an empty cache, and again.
pub fn border(rounds: u32) -> (Report, usize, usize) {
    let folder = tempfile::tempdir().expect("a folder");
    let all = [
        ("parities", PARITIES),
        ("behind", BEHIND),
        ("border", BORDER),
    ];
    let options = Options {
        rounds,
        ..options("yosys", folder.path(), EACH)
    };
    let map = || Design::map(&modules(&all), "border", &options, &|_| {}).expect("mapped");
    let (first, again) = (map(), map());
    let report = again.measure(LIMITS).expect("measured");
    (report, first.runs, again.runs)
}

/// A chain of conditions, measured after so many rounds.
pub fn conditions(rounds: u32) -> Report {
    let folder = tempfile::tempdir().expect("a folder");
    let options = Options {
        rounds,
        ..options("yosys", folder.path(), EACH)
    };
    let modules = modules(&[("conditions", CONDITIONS)]);
    let design = Design::map(&modules, "conditions", &options, &|_| {}).expect("mapped");
    design.measure(LIMITS).expect("measured")
}

/// Two equal registers, which synthesis may merge if they do not have to stay modules. It is one unit.
pub fn twins() -> Report {
    let folder = tempfile::tempdir().expect("a folder");
    let options = options("yosys", folder.path(), Division::default());
    let modules = modules(&[("twin", TWIN), ("twins", TWINS)]);
    let design = Design::map(&modules, "twins", &options, &|_| {}).expect("mapped");
    design.measure(LIMITS).expect("measured")
}

/// The design with a loop.
pub fn ring() -> Result<Report, FitError> {
    measured(&[("half", LOOP), ("ring", LOOP_TOP)], "ring")
}

/// A memory that cannot be of its style.
pub fn impossible_memory() -> Result<Design, FitError> {
    let folder = tempfile::tempdir().expect("a folder");
    let store = STORE.replace("STYLE", "block");
    map(
        &modules(&[("store", &store)]),
        "store",
        "yosys",
        folder.path(),
    )
}

/// A design of one module that is no Verilog.
pub fn broken(cache: &std::path::Path, yosys: &str) -> Result<Design, FitError> {
    map(
        &modules(&[("broken", "module broken (\n);\n  nonsense\nendmodule\n")]),
        "broken",
        yosys,
        cache,
    )
}
