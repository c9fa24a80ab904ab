//! Names, ranges and access of a design's objects.

use std::path::Path;

use sim_kernel::{Access, Hierarchy, LoadError, Manifest, NodeKind};
use sim_verilated::{default_cache, ModelSpec, Toolchain, TopModule};

const VERILOG: &str = "module leaf(input clk, output reg [7:0] value);
  reg [3:0] memory [4:7];
  always @(posedge clk) begin value <= value + 1; memory[4 + value[1:0]] <= 5; end
endmodule
module tree #(parameter WIDTH = 12) (input clk, input [0:0] one, input [WIDTH-1:0] wide, output [7:0] value, output open);
  wire [7:0] values [0:1];
  assign value = lane[1].out;
  genvar i;
  generate for (i = 0; i < 2; i = i + 1) begin : lane
    wire [7:0] out;
    leaf u_leaf(.clk(clk), .value(out));
  end endgenerate
endmodule";

fn manifest(signals: bool) -> Manifest {
    let tools = Toolchain::find().unwrap();
    let interface = TopModule::describe("tree", VERILOG, &[], tools).unwrap();
    let ports = if signals {
        vec![]
    } else {
        interface.model_ports()
    };
    let mut spec = ModelSpec::new("tree", VERILOG, ports);
    spec.signals = signals;
    Manifest {
        library: spec.build_file(tools, &default_cache()).unwrap(),
        top: "tree".into(),
        interface,
        trace: false,
        coverage: false,
        signals,
        precision: -12,
        verilator: tools.version().to_owned(),
    }
}

#[test]
fn every_object_is_found_by_its_name() {
    let manifest = manifest(true);
    let mut model = manifest.load().unwrap().instantiate();
    let mut tree = Hierarchy::new(&manifest, &mut model);
    let top = tree.top();
    let clk = tree.child(top, "clk").unwrap();
    assert_eq!(
        (tree.kind(clk), tree.access(clk)),
        (NodeKind::Scalar, Access::Input)
    );
    let one = tree.child(top, "one").unwrap();
    assert_eq!(
        (tree.kind(one), tree.length(one)),
        (NodeKind::Vector, 1),
        "a range of one bit is a vector"
    );
    let value = tree.child(top, "value").unwrap();
    assert_eq!(tree.access(value), Access::Output);
    let open = tree.child(top, "open").unwrap();
    assert_eq!(tree.access(open), Access::Input, "nothing drives it");
    let width = tree.child(top, "WIDTH").unwrap();
    assert_eq!(tree.access(width), Access::Constant);
    let lanes = tree.child(top, "lane").unwrap();
    assert_eq!(
        (tree.kind(lanes), tree.range(lanes), tree.length(lanes)),
        (NodeKind::ModuleArray, Some((0, 1)), 2)
    );
    let lane = tree.element(lanes, 1).unwrap();
    assert_eq!(tree.child(top, "lane[1]"), Some(lane));
    assert_eq!(tree.element(lanes, 2), None);
    let leaf = tree.child(lane, "u_leaf").unwrap();
    assert_eq!(tree.path(leaf), "tree.lane[1].u_leaf");
    let memory = tree.child(leaf, "memory").unwrap();
    assert_eq!(
        (tree.kind(memory), tree.range(memory), tree.length(memory)),
        (NodeKind::Array, Some((4, 7)), 4)
    );
    assert_eq!(tree.element(memory, 3), None);
    let word = tree.element(memory, 7).unwrap();
    assert_eq!(tree.element(memory, 7), Some(word), "the same node again");
    assert_eq!(
        (tree.path(word), tree.length(word)),
        ("tree.lane[1].u_leaf.memory[7]", 4)
    );
    assert!(tree.signal(word).is_some() && tree.signal(memory).is_none());
    assert_eq!(tree.closest(top, "vlue")[0], "value");
    assert!(tree.closest(top, "zzzz").is_empty());
}

#[test]
fn ports_alone_come_with_parameters() {
    let manifest = manifest(false);
    let mut model = manifest.load().unwrap().instantiate();
    let tree = Hierarchy::new(&manifest, &mut model);
    let names: Vec<&str> = tree
        .children(tree.top())
        .iter()
        .map(|&id| tree.name(id))
        .collect();
    assert_eq!(names, ["clk", "one", "wide", "value", "open", "WIDTH"]);
    let width = tree.child(tree.top(), "WIDTH").unwrap();
    assert_eq!(tree.fixed(width), Some(&[12][..]));
}

#[test]
fn a_manifest_survives_its_file_and_a_missing_one_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("model.json");
    let manifest = manifest(false);
    manifest.write(&path).unwrap();
    assert_eq!(Manifest::read(&path).unwrap(), manifest);
    std::fs::write(&path, "{").unwrap();
    assert!(matches!(
        Manifest::read(&path),
        Err(LoadError::Manifest { .. })
    ));
    let error = Manifest::read(Path::new("/absent.json")).unwrap_err();
    assert!(
        error.to_string().contains("build the model first"),
        "{error}"
    );
    let mut moved = manifest.clone();
    moved.library = directory.path().join("absent.so");
    assert!(matches!(moved.load(), Err(LoadError::Model(_))));
}
