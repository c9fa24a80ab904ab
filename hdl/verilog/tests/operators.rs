//! Compares rust-hdl's simulation with the Verilog of every operator, at widths on both sides of where a simulator's representation changes;
//! with the feature `every-width`, at every width from 1 to 256.
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

/// A design with the operators at the widths `$from` to `$to`, and its test.
macro_rules! widths {
    ($test:ident, $name:ident, $from:literal, $to:literal) => {
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

        #[test]
        fn $test() {
            let drive = |uut: &mut $name, rng: &mut _| {
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
            check($name::default, None, drive, 60, $from).unwrap();
        }
    };
}

#[cfg(feature = "every-width")]
mod every_width {
    use super::*;

    widths!(widths_1_to_64_agree, Widths1To64, 1, 64);
    widths!(widths_65_to_128_agree, Widths65To128, 65, 128);
    widths!(widths_129_to_192_agree, Widths129To192, 129, 192);
    widths!(widths_193_to_256_agree, Widths193To256, 193, 256);
}

#[cfg(not(feature = "every-width"))]
mod some_widths {
    use super::*;

    widths!(widths_1_to_10_agree, Widths1To10, 1, 10);
    widths!(widths_15_to_17_agree, Widths15To17, 15, 17);
    widths!(widths_31_to_34_agree, Widths31To34, 31, 34);
    widths!(widths_63_to_66_agree, Widths63To66, 63, 66);
    widths!(widths_95_to_97_agree, Widths95To97, 95, 97);
    widths!(widths_127_to_130_agree, Widths127To130, 127, 130);
    widths!(widths_159_to_161_agree, Widths159To161, 159, 161);
    widths!(widths_191_to_194_agree, Widths191To194, 191, 194);
    widths!(widths_254_to_256_agree, Widths254To256, 254, 256);
}
