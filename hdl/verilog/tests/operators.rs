//! Compares rust-hdl's simulation with the Verilog of every operator at every width from 1 to 256, in one design.
// The tests are about precedence, so their expressions have no extra parentheses.
#![allow(clippy::precedence)]
use hdl_macros::hdl;
use hdl_testkit::equivalence::{check, Random};
use rust_hdl::prelude::*;
use seq_macro::seq;

/// The operators at one width, and expressions whose value depends on precedence and width.
#[derive(LogicBlock, Default)]
struct Operators<const N: usize> {
    a: Signal<In, Bits<N>>,
    b: Signal<In, Bits<N>>,
    c: Signal<In, Bits<N>>,
    amount: Signal<In, Bits<9>>,
    flags: Signal<Out, Bits<16>>,
    y: Signal<Out, Bits<N>>,
}

impl<const N: usize> Logic for Operators<N> {
    #[hdl]
    fn update(&mut self) {
        let a = self.a.val();
        let b = self.b.val();
        let c = self.c.val();
        let mut flags = bits::<16>(0);
        flags = flags.replace_bit(0, a & b == c);
        flags = flags.replace_bit(1, a | b != c);
        flags = flags.replace_bit(2, a ^ b < c);
        flags = flags.replace_bit(3, a + b >= c);
        flags = flags.replace_bit(4, a - b <= c && a > b || b == c);
        flags = flags.replace_bit(5, !(a & b) > c);
        flags = flags.replace_bit(6, a.any() ^ b.all() & c.xor());
        flags = flags.replace_bit(7, (a + b).any());
        flags = flags.replace_bit(8, bit_cast::<257, N>(a + b) == bit_cast::<257, N>(c));
        flags = flags.replace_bit(9, a.get_bit(N - 1));
        flags = flags.replace_bit(10, bit_cast::<1, N>(a - c).any());
        flags = flags.replace_bit(11, a << 1 == b >> 1);
        self.flags.next = flags;
        let shifted = if b > c {
            a + b << self.amount.val()
        } else {
            a - b >> self.amount.val()
        };
        self.y.next = shifted ^ (a & !b | c) + 1;
    }
}

macro_rules! all_widths {
    ($name:ident, $from:literal, $to:literal) => {
        seq!(N in $from..=$to {
            #[derive(LogicBlock, Default)]
            struct $name {
                a: Signal<In, Bits<256>>,
                b: Signal<In, Bits<256>>,
                c: Signal<In, Bits<256>>,
                amount: Signal<In, Bits<9>>,
                #( y~N: Signal<Out, Bits<N>>, flags~N: Signal<Out, Bits<16>>, w~N: Operators<N>, )*
            }

            impl Logic for $name {
                #[hdl]
                fn update(&mut self) {
                    #(
                        self.w~N.a.next = bit_cast::<N, 256>(self.a.val());
                        self.w~N.b.next = bit_cast::<N, 256>(self.b.val());
                        self.w~N.c.next = bit_cast::<N, 256>(self.c.val());
                        self.w~N.amount.next = self.amount.val();
                        self.y~N.next = self.w~N.y.val();
                        self.flags~N.next = self.w~N.flags.val();
                    )*
                }
            }
        });
    };
}

all_widths!(Widths1To64, 1, 64);
all_widths!(Widths65To128, 65, 128);
all_widths!(Widths129To192, 129, 192);
all_widths!(Widths193To256, 193, 256);

macro_rules! agrees {
    ($test:ident, $block:ident, $seed:literal) => {
        #[test]
        fn $test() {
            let drive = |uut: &mut $block, rng: &mut _| {
                uut.a.next = Bits::random(rng);
                uut.b.next = Bits::random(rng);
                // Some inputs differ only slightly, so that comparisons have both results.
                let near: Bits<3> = Bits::random(rng);
                uut.c.next = match near.index() {
                    0 => uut.a.next & uut.b.next,
                    1 => uut.a.next + uut.b.next,
                    2 => uut.a.next ^ uut.b.next,
                    3 => uut.b.next,
                    _ => Bits::random(rng),
                };
                let wide: bool = bool::random(rng);
                let amount: Bits<9> = Bits::random(rng);
                uut.amount.next = if wide { amount } else { amount & 7 };
            };
            check($block::default, None, drive, 60, $seed).unwrap();
        }
    };
}

agrees!(widths_1_to_64_agree, Widths1To64, 11);
agrees!(widths_65_to_128_agree, Widths65To128, 12);
agrees!(widths_129_to_192_agree, Widths129To192, 13);
agrees!(widths_193_to_256_agree, Widths193To256, 14);
