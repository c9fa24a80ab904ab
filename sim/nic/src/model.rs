//! The pins of the Verilated NIC, by clocks.

use hdl_nic::Nic;
use rust_hdl::prelude::Block;
use sim_verilated::{Library, Model, PortId};

use crate::{NicError, BEAT};

/// What drives one port and its PCIe endpoint in a clock.
#[derive(Clone, Debug, Default)]
pub struct PortInputs {
    /// Bytes from the MAC, at most a beat, and whether they end the frame.
    pub rx: Option<(Vec<u8>, bool)>,
    pub tx_ready: bool,
    pub write_ready: bool,
    pub read_ready: bool,
    /// Packed `CompletionHeader`, the beat's bytes, and whether it is the completion's last.
    pub completion: Option<(Vec<u32>, Vec<u8>, bool)>,
}

/// What drives the card in a clock.
#[derive(Clone, Debug, Default)]
pub struct NicInputs {
    /// Address and data of a 64-bit write to BAR0.
    pub bar0_write: Option<(u16, u64)>,
    pub bar0_read: Option<u16>,
    /// Page, offset and data of a 64-bit write to BAR2, on offer.
    pub bar2_write: Option<(u16, u16, u64)>,
    /// Bit p: the link of port p is up.
    pub port_up: u8,
    pub ports: [PortInputs; 2],
}

/// A beat of a write TLP.
#[derive(Clone, Debug)]
pub struct WriteBeat {
    pub data: Vec<u8>,
    /// Packed `WriteTlpHeader`, with the first beat.
    pub header: Option<Vec<u32>>,
    pub last: bool,
}

/// What moved at one port and its endpoint in a clock.
#[derive(Clone, Debug, Default)]
pub struct PortOutputs {
    /// Bytes to the MAC, and whether they end the frame.
    pub tx: Option<(Vec<u8>, bool)>,
    pub write: Option<WriteBeat>,
    /// Packed `ReadTlpHeader`.
    pub read: Option<Vec<u32>>,
}

/// What the card did in a clock.
#[derive(Clone, Debug, Default)]
pub struct NicOutputs {
    pub bar0_read: Option<u64>,
    pub bar2_taken: bool,
    pub ports: [PortOutputs; 2],
    /// Queue pair and packed `Counted`, if anything was counted.
    pub counted: Option<(u32, Vec<u32>)>,
    /// A doorbell's producer index was refused, of this queue pair.
    pub refused: Option<u32>,
    /// Index of the `DropReason` of a frame whose fate was decided (0: accepted).
    pub verdict: Option<u8>,
    /// The transmit side lost count of its payload: a fault of the card.
    pub payload_mismatch: bool,
}

struct PortPins {
    rx_valid: PortId,
    rx_data: PortId,
    rx_bytes: PortId,
    rx_last: PortId,
    tx_valid: PortId,
    tx_data: PortId,
    tx_bytes: PortId,
    tx_last: PortId,
    tx_ready: PortId,
    write_valid: PortId,
    write_ready: PortId,
    write_data: PortId,
    write_header: PortId,
    write_first: PortId,
    write_last: PortId,
    read_valid: PortId,
    read: PortId,
    read_ready: PortId,
    completion_valid: PortId,
    completion: PortId,
    completion_data: PortId,
    completion_last: PortId,
}

impl PortPins {
    fn of(model: &Model, p: usize) -> Result<Self, NicError> {
        let port = |name: &str| model.port(&name.replacen('#', &p.to_string(), 1));
        Ok(Self {
            rx_valid: port("rx#_valid")?,
            rx_data: port("rx#_data")?,
            rx_bytes: port("rx#_bytes")?,
            rx_last: port("rx#_last")?,
            tx_valid: port("tx#_valid")?,
            tx_data: port("tx#_data")?,
            tx_bytes: port("tx#_bytes")?,
            tx_last: port("tx#_last")?,
            tx_ready: port("tx#_ready")?,
            write_valid: port("write#_valid")?,
            write_ready: port("write#_ready")?,
            write_data: port("write#_data")?,
            write_header: port("write#_header")?,
            write_first: port("write#_first")?,
            write_last: port("write#_last")?,
            read_valid: port("read#_valid")?,
            read: port("read#")?,
            read_ready: port("read#_ready")?,
            completion_valid: port("completion#_valid")?,
            completion: port("completion#")?,
            completion_data: port("completion#_data")?,
            completion_last: port("completion#_last")?,
        })
    }
}

struct Pins {
    clock: PortId,
    reset: PortId,
    port_up: PortId,
    bar0_write_valid: PortId,
    bar0_write_address: PortId,
    bar0_write_data: PortId,
    bar0_write_enable: PortId,
    bar0_read_valid: PortId,
    bar0_read_address: PortId,
    bar0_read_done: PortId,
    bar0_read_data: PortId,
    bar2_write_valid: PortId,
    bar2_write_page: PortId,
    bar2_write_offset: PortId,
    bar2_write_data: PortId,
    bar2_write_enable: PortId,
    bar2_ready: PortId,
    counted_qp: PortId,
    counted: PortId,
    doorbell_out_of_range: PortId,
    verdict_valid: PortId,
    verdict_reason: PortId,
    payload_mismatch: PortId,
    ports: [PortPins; 2],
}

/// All bytes of a 64-bit word.
const ALL_BYTES: u64 = 0xff;
/// rust-hdl keeps `Bits<N>` as `[bool; N]`: the card is a value too large for the stack of an ordinary thread, whoever calls.
const STACK: usize = 512 << 20;
/// Clocks for the tables that are swept after reset.
const SWEEP: usize = 70_000;

/// A Verilated NIC, out of reset.
pub struct NicModel {
    model: Model,
    pins: Pins,
}

impl NicModel {
    /// Builds the NIC, once per content: later calls load what is there. With `trace`, waves can be written.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn build(trace: bool) -> Result<Library, NicError> {
        let design = std::thread::Builder::new().stack_size(STACK).spawn(|| {
            let mut nic = Box::<Nic>::default();
            nic.connect_all();
            hdl_verilog::emit(nic.as_ref())
        });
        let design = match design.expect("a thread can be started").join() {
            Ok(design) => design?,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        let spec = design.model();
        let spec = if trace { spec.with_trace() } else { spec };
        Ok(spec.build()?)
    }

    /// A fresh NIC, reset and swept.
    ///
    /// # Errors
    /// [`NicError::Model`] if the library is of something else.
    pub fn new(library: &Library) -> Result<Self, NicError> {
        let model = library.instantiate();
        let port = |name: &str| model.port(name);
        let pins = Pins {
            clock: port("clock")?,
            reset: port("reset")?,
            port_up: port("port_up")?,
            bar0_write_valid: port("bar0_write_valid")?,
            bar0_write_address: port("bar0_write_address")?,
            bar0_write_data: port("bar0_write_data")?,
            bar0_write_enable: port("bar0_write_enable")?,
            bar0_read_valid: port("bar0_read_valid")?,
            bar0_read_address: port("bar0_read_address")?,
            bar0_read_done: port("bar0_read_done")?,
            bar0_read_data: port("bar0_read_data")?,
            bar2_write_valid: port("bar2_write_valid")?,
            bar2_write_page: port("bar2_write_page")?,
            bar2_write_offset: port("bar2_write_offset")?,
            bar2_write_data: port("bar2_write_data")?,
            bar2_write_enable: port("bar2_write_enable")?,
            bar2_ready: port("bar2_ready")?,
            counted_qp: port("counted_qp")?,
            counted: port("counted")?,
            doorbell_out_of_range: port("doorbell_out_of_range")?,
            verdict_valid: port("verdict_valid")?,
            verdict_reason: port("verdict_reason")?,
            payload_mismatch: port("payload_mismatch")?,
            ports: [PortPins::of(&model, 0)?, PortPins::of(&model, 1)?],
        };
        let mut nic = Self { model, pins };
        nic.model.set_u64(nic.pins.bar0_write_enable, ALL_BYTES);
        nic.model.set_u64(nic.pins.bar2_write_enable, ALL_BYTES);
        nic.model.set_u64(nic.pins.port_up, 3);
        nic.model.set_u64(nic.pins.reset, 1);
        for _ in 0..4 {
            nic.model.clock(nic.pins.clock);
        }
        nic.model.set_u64(nic.pins.reset, 0);
        for _ in 0..SWEEP {
            nic.model.clock(nic.pins.clock);
        }
        Ok(nic)
    }

    /// The model, for waves and coverage.
    pub fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }

    /// Clocks since power-up.
    pub fn clocks(&self) -> u64 {
        self.model.cycles()
    }

    /// One clock: `inputs` before the rising edge, and what the edge moved.
    pub fn clock(&mut self, inputs: &NicInputs) -> NicOutputs {
        self.drive(inputs);
        self.model.eval();
        let outputs = self.look(inputs);
        self.model.clock(self.pins.clock);
        outputs
    }

    fn drive(&mut self, inputs: &NicInputs) {
        let (m, p) = (&mut self.model, &self.pins);
        m.set_u64(p.port_up, inputs.port_up.into());
        m.set_u64(p.bar0_write_valid, inputs.bar0_write.is_some().into());
        if let Some((address, data)) = inputs.bar0_write {
            m.set_u64(p.bar0_write_address, address.into());
            m.set_u64(p.bar0_write_data, data);
        }
        m.set_u64(p.bar0_read_valid, inputs.bar0_read.is_some().into());
        if let Some(address) = inputs.bar0_read {
            m.set_u64(p.bar0_read_address, address.into());
        }
        m.set_u64(p.bar2_write_valid, inputs.bar2_write.is_some().into());
        if let Some((page, offset, data)) = inputs.bar2_write {
            m.set_u64(p.bar2_write_page, page.into());
            m.set_u64(p.bar2_write_offset, offset.into());
            m.set_u64(p.bar2_write_data, data);
        }
        for (pins, port) in p.ports.iter().zip(&inputs.ports) {
            m.set_u64(pins.rx_valid, port.rx.is_some().into());
            if let Some((bytes, last)) = &port.rx {
                m.set(pins.rx_data, &words(bytes));
                m.set_u64(pins.rx_bytes, bytes.len() as u64);
                m.set_u64(pins.rx_last, (*last).into());
            }
            m.set_u64(pins.tx_ready, port.tx_ready.into());
            m.set_u64(pins.write_ready, port.write_ready.into());
            m.set_u64(pins.read_ready, port.read_ready.into());
            m.set_u64(pins.completion_valid, port.completion.is_some().into());
            if let Some((header, bytes, last)) = &port.completion {
                m.set(pins.completion, header);
                m.set(pins.completion_data, &words(bytes));
                m.set_u64(pins.completion_last, (*last).into());
            }
        }
    }

    fn look(&self, inputs: &NicInputs) -> NicOutputs {
        let (m, p) = (&self.model, &self.pins);
        let flag = |port| m.get_u64(port) != 0;
        let port = |pins: &PortPins, port: &PortInputs| PortOutputs {
            tx: (port.tx_ready && flag(pins.tx_valid)).then(|| {
                let mut bytes = bytes(&m.get_words(pins.tx_data));
                bytes.truncate(m.get_u64(pins.tx_bytes) as usize);
                (bytes, flag(pins.tx_last))
            }),
            write: (port.write_ready && flag(pins.write_valid)).then(|| WriteBeat {
                data: bytes(&m.get_words(pins.write_data)),
                header: flag(pins.write_first).then(|| m.get_words(pins.write_header).to_vec()),
                last: flag(pins.write_last),
            }),
            read: (port.read_ready && flag(pins.read_valid))
                .then(|| m.get_words(pins.read).to_vec()),
        };
        let counted = m.get_words(p.counted);
        let qp = || m.get_u64(p.counted_qp) as u32;
        NicOutputs {
            bar0_read: flag(p.bar0_read_done).then(|| m.get_u64(p.bar0_read_data)),
            bar2_taken: inputs.bar2_write.is_some() && flag(p.bar2_ready),
            counted: counted
                .iter()
                .any(|&word| word != 0)
                .then(|| (qp(), counted.to_vec())),
            refused: flag(p.doorbell_out_of_range).then(qp),
            verdict: flag(p.verdict_valid).then(|| m.get_u64(p.verdict_reason) as u8),
            payload_mismatch: flag(p.payload_mismatch),
            ports: [
                port(&p.ports[0], &inputs.ports[0]),
                port(&p.ports[1], &inputs.ports[1]),
            ],
        }
    }
}

/// A beat's bytes as a port wants them.
fn words(bytes: &[u8]) -> [u32; BEAT / 4] {
    let mut words = [0; BEAT / 4];
    for (i, &byte) in bytes.iter().enumerate() {
        words[i / 4] |= u32::from(byte) << (i % 4 * 8);
    }
    words
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}
