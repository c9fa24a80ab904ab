//! Each construct of a kernel against the AST it becomes, printed by rust-hdl's own writer, and against native simulation.
use hdl_macros::{hdl, hdl_fn};
use rust_hdl_core::prelude::*;
use rust_hdl_core::verilog_gen::verilog_combinatorial;
use rust_hdl_widgets::dff_setup;
use rust_hdl_widgets::prelude::DFF;

const OP_ADD: u64 = 3;

#[derive(Copy, Clone, Debug, PartialEq, LogicState)]
enum State {
    Idle,
    Run,
    Done,
}

#[derive(Copy, Clone, Debug, PartialEq, Default, LogicStruct)]
struct Inner {
    low: Bits<4>,
    flag: Bit,
}

#[derive(Copy, Clone, Debug, PartialEq, Default, LogicStruct)]
struct Outer {
    tag: Bits<8>,
    inner: Inner,
}

#[hdl_fn]
fn rotate<const N: usize>(value: Bits<N>, by: usize, enable: Bit) -> Bits<N> {
    let turned = (value << (by as u64)) | (value >> ((N - by) as u64));
    if enable {
        turned
    } else {
        value
    }
}

#[hdl_fn]
fn popcount(value: Bits<8>) -> Bits<8> {
    let mut count = bits::<8>(0);
    for i in 0..8 {
        count = count + bit_cast::<8, 1>(value.get_bits::<1>(i));
    }
    count
}

#[derive(LogicBlock, Default)]
struct Kitchen {
    clock: Signal<In, Clock>,
    valid: Signal<In, Bit>,
    a: Signal<In, Bits<8>>,
    b: Signal<In, Bits<8>>,
    packet: Signal<In, Outer>,
    sum: Signal<Out, Bits<8>>,
    ones: Signal<Out, Bits<8>>,
    turned: Signal<Out, Bits<8>>,
    picked: Signal<Out, Bit>,
    made: Signal<Out, Outer>,
    chain: [Signal<Local, Bits<8>>; 3],
    state: DFF<State>,
    regs: [DFF<Bits<8>>; 2],
    _shift: usize,
}

impl Logic for Kitchen {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, state);
        // Shadows a port: must not become a wire of that name.
        let valid = self.valid.val() & self.packet.val().inner.flag;
        let shift = self._shift + 1;
        let step = if valid {
            let half = self.a.val() >> 1;
            half + self.packet.val().tag
        } else if self.a.val() == OP_ADD {
            bits(7)
        } else {
            self.b.val()
        };
        self.sum.next = step << (shift as u64);
        for i in 0..self.chain.len() {
            if i == 0 {
                self.chain[i].next = self.a.val();
            } else {
                self.chain[i].next = self.chain[i - 1].val() + bits(1);
            }
        }
        for i in 0..2 {
            self.regs[i].clock.next = self.clock.val();
            self.regs[i].d.next = self.regs[i].q.val();
        }
        match self.state.q.val() {
            State::Idle => {
                if valid {
                    self.state.d.next = State::Run;
                }
            }
            State::Run | State::Done => self.state.d.next = State::Idle,
        }
        let at = self.b.val().get_bits::<3>(0).index();
        self.picked.next = self.a.val().get_bit(at) && !valid;
        let mut made = Outer {
            tag: step,
            inner: Inner {
                low: self.a.val().get_bits::<4>(4),
                flag: match self.state.q.val() {
                    State::Idle => false,
                    _ => self.valid.val(),
                },
            },
        };
        made.inner.low = made.inner.low + 1;
        made.tag = self.a.val();
        self.made.next = made;
        self.made.next.inner.flag = self.valid.val();
        self.ones.next = popcount(self.a.val() ^ self.b.val());
        self.turned.next = rotate(self.a.val(), self._shift, valid);
    }
}

fn text(block: &impl Logic) -> String {
    let Verilog::Combinatorial(statements) = block.hdl() else {
        panic!("a kernel is combinatorial")
    };
    let text = verilog_combinatorial(&statements);
    text.lines().map(str::trim).collect::<Vec<_>>().join("\n")
}

#[track_caller]
fn assert_has(text: &str, lines: &str) {
    let lines = lines
        .lines()
        .map(str::trim)
        .filter(|l| !l.is_empty())
        .collect::<Vec<_>>()
        .join("\n");
    assert!(
        text.contains(&lines),
        "--- missing:\n{lines}\n--- in:\n{text}"
    );
}

fn kitchen() -> Kitchen {
    Kitchen {
        _shift: 3,
        ..Kitchen::default()
    }
}

#[test]
fn names_the_module_and_wires_flip_flops() {
    assert_has(
        &text(&kitchen()),
        "// @module hdl_macros::kernel_to_ast::Kitchen\nstate$clock = clock;\nstate$d = state$q;",
    );
}

#[test]
fn a_let_called_like_a_port_gets_another_name() {
    assert_has(
        &text(&kitchen()),
        "valid_1 = ((valid & packet[(64'h8)+:(5)][(64'h4)+:(1)]) & 1'h1);",
    );
}

#[test]
fn an_if_value_is_assigned_in_each_branch() {
    assert_has(
        &text(&kitchen()),
        "if (valid_1) begin
         half = ((a >> 64'h1) & 8'hff);
         step = ((half + packet[(64'h0)+:(8)]) & 8'hff);
         end
         else if (a == 64'h3) begin
         step = ((8'h7) & 8'hff);
         end
         else begin
         step = ((b) & 8'hff);
         end
         sum = step << 64'h4;",
    );
}

#[test]
fn loops_and_constant_conditions_run_at_elaboration() {
    assert_has(
        &text(&kitchen()),
        "chain$0 = a;
         chain$1 = chain$0 + ((8'h1) & 8'hff);
         chain$2 = chain$1 + ((8'h1) & 8'hff);
         regs$0$clock = clock;
         regs$0$d = regs$0$q;
         regs$1$clock = clock;
         regs$1$d = regs$1$q;",
    );
}

#[test]
fn alternatives_of_a_pattern_repeat_the_case() {
    assert_has(
        &text(&kitchen()),
        "case (state$q)
         State$Idle:
         begin
         if (valid_1) begin
         state$d = State$Run;
         end
         end
         State$Run:
         begin
         state$d = State$Idle;
         end
         State$Done:
         begin
         state$d = State$Idle;
         end
         endcase
         picked = a[b[(64'h0)+:(3)]] && ~valid_1;",
    );
}

#[test]
fn struct_literals_and_field_assignments_become_slices_of_new_versions() {
    assert_has(
        &text(&kitchen()),
        "made_1 = ((1'b0) & 13'h1fff);
         made_1[(64'h0)+:(8)] = step;
         made_1[(64'h8)+:(5)] = ((1'b0) & 5'h1f);
         made_1[(64'h8)+:(4)] = a[(64'h4)+:(4)];
         case (state$q)
         State$Idle:
         begin
         made_1[(64'hc)+:(1)] = ((1'b0) & 1'h1);
         end
         default:
         begin
         made_1[(64'hc)+:(1)] = valid;
         end
         endcase
         made_2 = ((made_1) & 13'h1fff);
         made_2[(64'h8)+:(4)] = made_1[(64'h8)+:(5)][(64'h0)+:(4)] + 64'h1;
         made_2[(64'h0)+:(8)] = a;
         made = made_2;
         made[(64'hc)+:(1)] = valid;",
    );
}

#[test]
fn helper_functions_expand_in_place_with_constant_parameters() {
    let text = text(&kitchen());
    assert_has(
        &text,
        "value = ((a ^ b) & 8'hff);\ncount = ((8'h0) & 8'hff);",
    );
    assert_has(&text, "count_8 = ((count_7 + ((value[(64'h7)+:(1)]) & 8'hff)) & 8'hff);\npopcount = ((count_8) & 8'hff);\nones = popcount;");
    assert_has(&text, "turned_1 = ((a << 64'h3 | a >> 64'h5) & 8'hff);\nif (valid_1) begin\nrotate = ((turned_1) & 8'hff);");
}

#[test]
fn connect_marks_what_the_kernel_drives_and_nothing_else() {
    let mut block = kitchen();
    block.connect();
    assert!([&block.sum, &block.ones, &block.turned]
        .iter()
        .all(|s| s.connected()));
    assert!(block.picked.connected() && block.made.connected());
    assert!(block.chain.iter().all(|s| s.connected()));
    assert!(block
        .regs
        .iter()
        .all(|r| r.d.connected() && r.clock.connected() && !r.q.connected()));
    assert!(block.state.d.connected() && block.state.clock.connected());
    assert!(!block.a.connected() && !block.valid.connected());
}

proptest::proptest! {
    #[test]
    fn update_stays_plain_rust(a: u8, b: u8, valid: bool, flag: bool, tag: u8) {
        let mut block = kitchen();
        block.connect_all();
        block.a.next = bits(a.into());
        block.b.next = bits(b.into());
        block.valid.next = valid;
        block.packet.next = Outer { tag: bits(tag.into()), inner: Inner { low: bits(0), flag } };
        for _ in 0..3 {
            block.update_all();
        }
        let step = if valid && flag { (a >> 1).wrapping_add(tag) } else if a == 3 { 7 } else { b };
        let turned = if valid && flag { a.rotate_left(3) } else { a };
        proptest::prop_assert_eq!(block.sum.val(), bits::<8>((step << 4).into()));
        proptest::prop_assert_eq!(block.ones.val(), bits::<8>((a ^ b).count_ones().into()));
        proptest::prop_assert_eq!(block.turned.val(), bits::<8>(turned.into()));
        proptest::prop_assert_eq!(block.chain[2].val(), bits::<8>(a.wrapping_add(2).into()));
    }
}
