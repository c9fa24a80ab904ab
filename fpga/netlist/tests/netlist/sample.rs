//! A block with each kind of memory, a multiplier, a delay line and a FIFO.

use hdl_congestion::DspMultiply;
use hdl_macros::hdl;
use hdl_primitives::{BlockRam, BypassRam, Delay, LutRam, UltraRam};
use rust_hdl::prelude::*;

/// Bits of an address that the test uses.
pub const ADDRESS: u32 = 0x1007;

/// Words of 72 bits fill a block RAM of 512 words with its parity bits, those of 9 bits half of one. The UltraRAM has two rows.
#[derive(LogicBlock, Default)]
pub struct Sample {
    pub clock: Signal<In, Clock>,
    pub write_enable: Signal<In, Bit>,
    pub write_address: Signal<In, Bits<13>>,
    pub write_data: Signal<In, Bits<80>>,
    pub read_address: Signal<In, Bits<13>>,
    pub a: Signal<In, Bits<26>>,
    pub b: Signal<In, Bits<17>>,
    pub wide: Signal<Out, Bits<72>>,
    pub narrow: Signal<Out, Bits<9>>,
    pub bypassed: Signal<Out, Bits<36>>,
    pub shallow: Signal<Out, Bits<20>>,
    pub ultra: Signal<Out, Bits<80>>,
    pub product: Signal<Out, Bits<43>>,
    pub sum: Signal<Out, Bits<26>>,
    pub delayed: Signal<Out, Bits<8>>,
    wide_ram: BlockRam<Bits<72>, 9>,
    narrow_ram: BlockRam<Bits<9>, 11>,
    bypass_ram: BypassRam<Bits<36>, 9>,
    lut_ram: LutRam<Bits<20>, 6>,
    ultra_ram: UltraRam<Bits<80>, 13>,
    multiply: DspMultiply<26, 17, 43>,
    delay: Delay<Bits<8>, 9>,
    kept: DFF<Bits<26>>,
}

impl Logic for Sample {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, kept);
        self.wide_ram.clock.next = self.clock.val();
        self.wide_ram.write_enable.next = self.write_enable.val();
        self.wide_ram.write_address.next = self.write_address.val().get_bits::<9>(0);
        self.wide_ram.write_data.next = self.write_data.val().get_bits::<72>(0);
        self.wide_ram.read_address.next = self.read_address.val().get_bits::<9>(0);
        self.wide.next = self.wide_ram.read_data.val();
        self.narrow_ram.clock.next = self.clock.val();
        self.narrow_ram.write_enable.next = self.write_enable.val();
        self.narrow_ram.write_address.next = self.write_address.val().get_bits::<11>(0);
        self.narrow_ram.write_data.next = self.write_data.val().get_bits::<9>(0);
        self.narrow_ram.read_address.next = self.read_address.val().get_bits::<11>(0);
        self.narrow.next = self.narrow_ram.read_data.val();
        self.bypass_ram.clock.next = self.clock.val();
        self.bypass_ram.write_enable.next = self.write_enable.val();
        self.bypass_ram.write_address.next = self.write_address.val().get_bits::<9>(0);
        self.bypass_ram.write_data.next = self.write_data.val().get_bits::<36>(0);
        self.bypass_ram.read_address.next = self.read_address.val().get_bits::<9>(0);
        self.bypassed.next = self.bypass_ram.read_data.val();
        self.lut_ram.clock.next = self.clock.val();
        self.lut_ram.write_enable.next = self.write_enable.val();
        self.lut_ram.write_address.next = self.write_address.val().get_bits::<6>(0);
        self.lut_ram.write_data.next = self.write_data.val().get_bits::<20>(0);
        self.lut_ram.read_address.next = self.read_address.val().get_bits::<6>(0);
        self.shallow.next = self.lut_ram.read_data.val();
        self.ultra_ram.clock.next = self.clock.val();
        self.ultra_ram.write_enable.next = self.write_enable.val();
        self.ultra_ram.write_address.next = self.write_address.val();
        self.ultra_ram.write_data.next = self.write_data.val();
        self.ultra_ram.read_address.next = self.read_address.val();
        self.ultra.next = self.ultra_ram.read_data.val();
        self.multiply.clock.next = self.clock.val();
        self.multiply.a.next = self.a.val();
        self.multiply.b.next = self.b.val();
        self.product.next = self.multiply.product.val();
        self.kept.d.next = self.kept.q.val() + self.a.val();
        self.sum.next = self.kept.q.val();
        self.delay.clock.next = self.clock.val();
        self.delay.data.next = self.a.val().get_bits::<8>(0);
        self.delayed.next = self.delay.delayed.val();
    }
}
