//! The pins of the Verilated NIC, cycle by cycle.

use std::cell::RefCell;
use std::sync::{Mutex, Once, PoisonError};

use arrayvec::ArrayVec;
use hdl_nic::{reset_clocks, Shape, Top, RESET_HOLD};
use sim_bfm::{Beat, BEAT};
use sim_fork_join::Behind;
use sim_models::DesignModels;
use sim_verilated::{BuildError, Library, Model, ModelSpec, PortId, Profile, SimMode};
use stellar_wire::pcie::sideband::request as sideband;

use crate::pcie::RcBeat;
use crate::pins::{shape_of, Pins};
use crate::shape::chosen_shape;
use crate::NicError;

/// What drives one port and its PCIe endpoint in a cycle.
#[derive(Clone, Debug, Default)]
pub struct PortInputs<'a> {
    /// From the MAC.
    pub rx: Option<Beat>,
    /// Frames that were lost between the MAC and the card, modulo 2^32.
    pub rx_dropped: u32,
    pub tx_ready: bool,
    pub rq_ready: bool,
    /// On offer: completions.
    pub rc: Option<&'a RcBeat>,
}

/// A beat of AMD's completer request stream.
#[derive(Clone, Debug)]
pub struct CqBeat {
    pub beat: Beat,
    /// Byte enables of the first double word of the TLP's payload, and of the last one.
    pub first_be: u8,
    pub last_be: u8,
}

/// What drives the card in a cycle.
#[derive(Clone, Debug, Default)]
pub struct NicInputs<'a> {
    /// On offer: a request of the host to a BAR.
    pub cq: Option<CqBeat>,
    /// On offer: a message for endpoint 1.
    pub cq1: Option<CqBeat>,
    /// MSI-X is on in the configuration space, and its function mask.
    pub msix_enable: bool,
    pub msix_mask: bool,
    /// Bit e: the PCIe link of endpoint e is down.
    pub pcie_link_down: u8,
    /// Bit p: the link of port p is up.
    pub port_up: u8,
    /// Those of a port that the card does not have drive nothing.
    pub ports: [PortInputs<'a>; 2],
}

/// A beat of AMD's requester request stream: data and `tuser`.
#[derive(Clone, Debug, Default)]
pub struct RqBeat {
    pub data: ArrayVec<u32, { BEAT / 4 }>,
    pub user: ArrayVec<u32, RQ_USER_WORDS>,
}

/// Words of `tuser` of the widest requester request stream: 373 bits (PG346).
const RQ_USER_WORDS: usize = 373_usize.div_ceil(32);
/// At least the words of a packed `StatPulses`.
const PULSE_WORDS: usize = 4;

/// Copies a port's words into an empty record, where it is: a beat is large to be moved.
///
/// # Panics
/// If the port has more than `N`.
fn copy<const N: usize>(words: &[u32], to: &mut ArrayVec<u32, N>) {
    to.try_extend_from_slice(words)
        .expect("a port has as many words as its record");
}

/// What moved at one port and its endpoint in a cycle.
#[derive(Clone, Debug, Default)]
pub struct PortOutputs {
    /// To the MAC.
    pub tx: Option<Beat>,
    /// Requests.
    pub rq: Option<RqBeat>,
    pub rc_taken: bool,
}

/// What the card did in a cycle.
#[derive(Clone, Debug, Default)]
pub struct NicOutputs {
    pub cq_taken: bool,
    pub cq1_taken: bool,
    /// A completion of a request of the host.
    pub cc: Option<Beat>,
    pub ports: [PortOutputs; 2],
    /// For each requester engine, the queue pair and packed `StatPulses`, if anything was counted.
    pub counted: [Option<(u32, ArrayVec<u32, PULSE_WORDS>)>; 2],
    /// For each requester engine, the packed `CongestionSample`, if congestion control processed a SACK.
    pub sampled: [Option<Vec<u32>>; 2],
    /// For each requester engine, the queue pair of a doorbell whose producer index was refused.
    pub refused: [Option<u32>; 2],
    /// Index of the `DropReason` of a frame whose fate was decided (0: accepted).
    pub verdict: Option<u8>,
    /// The transmit side lost count of its payload: a fault of the card.
    pub payload_mismatch: bool,
}

/// Levels of the hierarchy that a plain card writes waves of. `tests/cocotb/simulators.py` asks for the same.
const TRACE_LEVELS: u32 = 2;

/// Bytes of a double word.
const DWORD: usize = 4;

/// The inputs of up to 32 bits that have a value in every cycle. Most cycles drive the same ones as the cycle before.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Levels {
    port_up: u8,
    pcie_link_down: u8,
    msix_enable: bool,
    msix_mask: bool,
    cq_valid: [bool; 2],
    ports: [PortLevels; 2],
}

/// Those of a port and its endpoint.
#[derive(Clone, Copy, PartialEq, Eq)]
struct PortLevels {
    rx_valid: bool,
    rx_dropped: u32,
    tx_ready: bool,
    rq_ready: bool,
    rc_valid: bool,
}

impl Levels {
    fn of(inputs: &NicInputs) -> Self {
        let [first, second] = &inputs.ports;
        let port = |port: &PortInputs| PortLevels {
            rx_valid: port.rx.is_some(),
            rx_dropped: port.rx_dropped,
            tx_ready: port.tx_ready,
            rq_ready: port.rq_ready,
            rc_valid: port.rc.is_some(),
        };
        Self {
            port_up: inputs.port_up,
            pcie_link_down: inputs.pcie_link_down,
            msix_enable: inputs.msix_enable,
            msix_mask: inputs.msix_mask,
            cq_valid: [inputs.cq.is_some(), inputs.cq1.is_some()],
            ports: [port(first), port(second)],
        }
    }
}

/// A model and its clock.
struct Clocked {
    model: Model,
    clock: PortId,
}

impl Clocked {
    fn rise(&mut self, (): ()) {
        self.model.rise(self.clock);
    }
}

/// A Verilated NIC, out of reset.
///
/// A rising edge takes most of the time of a cycle. With a helper ([`Self::set_helper`]) it runs on a thread of its own, while the caller of [`Self::clock`] does what
/// is around the card. What moves at an edge is known before it, so results are the same.
pub struct NicModel {
    /// In a cell, so that a card that is only looked at can wait for its edge.
    model: RefCell<Behind<Clocked>>,
    /// Cycles since power-up. Who asks the model for its count waits for the edge that is under way.
    clocks: u64,
    driver: Driver,
}

/// How a card's pins are driven and looked at.
struct Driver {
    pins: Pins,
    shape: Shape,
    /// What the last cycle drove.
    levels: Option<Levels>,
}

impl NicModel {
    /// Does what [`Self::spec_of`] does, for cards of the chosen shape ([`chosen_shape`]).
    ///
    /// # Errors
    /// [`NicError`].
    pub fn spec(mode: SimMode) -> Result<ModelSpec, NicError> {
        Self::spec_of(chosen_shape(), mode)
    }

    /// The model of the card of this shape in `mode`. A plain one can write waves of its own signals and of those of its blocks; [`Self::plain`] is for others.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn spec_of(shape: Shape, mode: SimMode) -> Result<ModelSpec, NicError> {
        match mode {
            SimMode::Plain => Self::plain(shape, Some(TRACE_LEVELS)),
            SimMode::Gated | SimMode::OnChange => {
                Ok(Top::Nic(shape).elaborate()?.model_in(mode)?)
            }
        }
    }

    /// The model of the card of this shape in mode plain, which can write waves of these levels of the hierarchy (`None`: all). It is for looking at the
    /// emitted Verilog, and is compiled for short runs.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn plain(shape: Shape, trace_levels: Option<u32>) -> Result<ModelSpec, NicError> {
        let spec = Top::Nic(shape).elaborate()?.model();
        Ok(spec.with_trace_of(trace_levels).for_short_run())
    }

    /// Does what [`Self::shared_of`] does, for cards of the chosen shape ([`chosen_shape`]).
    ///
    /// # Errors
    /// [`NicError`].
    pub fn shared() -> Result<&'static Library, NicError> {
        Self::shared_of(chosen_shape())
    }

    /// The model for all cards of this shape in this process: built, or loaded, by the first caller. It has the mode that was chosen ([`SimMode::chosen`]). If
    /// none was, it has mode [`SimMode::OnChange`], or with a warning on standard error [`SimMode::Gated`] where that is not possible.
    ///
    /// # Errors
    /// [`NicError`].
    pub fn shared_of(shape: Shape) -> Result<&'static Library, NicError> {
        static ONE_PORT: Mutex<Option<&Library>> = Mutex::new(None);
        static TWO_PORTS: Mutex<Option<&Library>> = Mutex::new(None);
        static TWO_PORTS_16K: Mutex<Option<&Library>> = Mutex::new(None);
        static TWO_PORTS_64K: Mutex<Option<&Library>> = Mutex::new(None);
        let shared = match shape {
            Shape::OnePort512 => &ONE_PORT,
            Shape::TwoPorts1024 => &TWO_PORTS,
            Shape::TwoPorts1024Qp16k => &TWO_PORTS_16K,
            Shape::TwoPorts1024Qp64k => &TWO_PORTS_64K,
        };
        // Who comes meanwhile waits, for to elaborate the card takes seconds. A panic of another caller leaves nothing half done.
        let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(library) = *shared {
            return Ok(library);
        }
        let built = match SimMode::chosen()? {
            Some(mode) => Self::spec_of(shape, mode)?.build()?,
            None => Self::build_fastest(shape)?,
        };
        Ok(*shared.insert(Box::leak(Box::new(built))))
    }

    /// The fastest mode that these tools can build.
    fn build_fastest(shape: Shape) -> Result<Library, NicError> {
        static WARNED: Once = Once::new();
        match Self::spec_of(shape, SimMode::OnChange)?.build() {
            Err(refusal @ BuildError::NotOnChange { .. }) => {
                WARNED.call_once(|| {
                    eprintln!("warning: {refusal}. Mode gated is used; choose it to be rid of this warning");
                });
                Ok(Self::spec_of(shape, SimMode::Gated)?.build()?)
            }
            built => Ok(built?),
        }
    }

    /// A fresh NIC, reset, its memories cleared. Its pins do not say how many queue pairs it has: that is what the chosen shape has, if it is the shape of these pins.
    ///
    /// # Errors
    /// [`NicError::Model`] if the library holds the model of another design.
    pub fn new(library: &Library) -> Result<Self, NicError> {
        let mut model = library.instantiate();
        let pins = Pins::of(&model)?;
        let shape = shape_of(&model)?;
        let clock = pins.clock;
        model.set_u64(pins.cc_tready, 1);
        model.set_u64(pins.port_up, (1 << shape.ports()) - 1);
        model.set_u64(pins.reset, 1);
        for _ in 0..RESET_HOLD {
            model.clock(clock);
        }
        model.set_u64(pins.reset, 0);
        for _ in 0..reset_clocks(shape.queue_pair_bits()) {
            model.clock(clock);
        }
        Ok(Self {
            clocks: model.cycles(),
            model: RefCell::new(Behind::new(Clocked { model, clock }, Clocked::rise)),
            driver: Driver {
                pins,
                shape,
                levels: None,
            },
        })
    }

    /// The card's shape.
    pub const fn shape(&self) -> Shape {
        self.driver.shape
    }

    /// Rising edges run on a thread of their own from now on, or no longer.
    pub fn set_helper(&mut self, on: bool) {
        self.model.get_mut().set_helper(on);
    }

    /// The model, for waves and coverage. Cycles that it is given here are not counted in [`Self::clocks`].
    pub fn model_mut(&mut self) -> &mut Model {
        &mut self.model.get_mut().get().model
    }

    /// Wall time by block since [`Model::start_profile`].
    pub fn profile(&self) -> Option<Profile> {
        self.model.borrow_mut().get().model.profile()
    }

    /// Records what drives the pins from now on. A new card is in the state that a recording which starts right after power-up begins with.
    pub fn start_recording(&mut self) {
        let clock = self.driver.pins.clock;
        self.model_mut().start_recording(clock);
    }

    /// Drives the reset pin.
    pub fn set_reset(&mut self, on: bool) {
        let reset = self.driver.pins.reset;
        self.model_mut().set_u64(reset, on.into());
    }

    /// Cycles since power-up.
    pub const fn clocks(&self) -> u64 {
        self.clocks
    }

    /// Runs one cycle: sets `inputs` before the rising edge. Returns what the edge moves.
    pub fn clock(&mut self, inputs: &NicInputs) -> NicOutputs {
        let behind = self.model.get_mut();
        let Clocked { model, clock } = behind.get();
        self.driver.drive(model, inputs);
        model.fall(*clock);
        // They are filled in place: a beat is large to be moved.
        let mut outputs = NicOutputs::default();
        self.driver.look(model, inputs, &mut outputs);
        behind.step();
        self.clocks += 1;
        outputs
    }
}

impl Driver {
    /// Sets the levels that have changed since the last cycle.
    fn drive_levels(&mut self, m: &mut Model, inputs: &NicInputs) {
        let levels = Levels::of(inputs);
        let before = self.levels.replace(levels);
        if before == Some(levels) {
            return;
        }
        let p = &self.pins;
        for (n, pins) in p.ports.iter().enumerate() {
            let port = levels.ports[n];
            let before = before.map(|before| before.ports[n]);
            if before == Some(port) {
                continue;
            }
            let mut set = |pin, level: fn(&PortLevels) -> u64| {
                let value = level(&port);
                if before.is_none_or(|before| level(&before) != value) {
                    m.set_u64(pin, value);
                }
            };
            set(pins.rx_valid, |port| port.rx_valid.into());
            set(pins.rx_dropped, |port| port.rx_dropped.into());
            set(pins.tx_ready, |port| port.tx_ready.into());
            set(pins.rq_tready, |port| port.rq_ready.into());
            set(pins.rc_tvalid, |port| port.rc_valid.into());
        }
        let ports = levels.ports;
        if before.is_some_and(|before| Levels { ports, ..before } == levels) {
            return;
        }
        m.set_u64(p.port_up, levels.port_up.into());
        m.set_u64(p.msix_enable, levels.msix_enable.into());
        m.set_u64(p.msix_mask, levels.msix_mask.into());
        m.set_u64(p.pcie_link_down, levels.pcie_link_down.into());
        for (pins, valid) in p.cq.iter().zip(levels.cq_valid) {
            m.set_u64(pins.tvalid, valid.into());
        }
    }

    fn drive(&mut self, m: &mut Model, inputs: &NicInputs) {
        self.drive_levels(m, inputs);
        let p = &self.pins;
        for (pins, offered) in p.cq.iter().zip([&inputs.cq, &inputs.cq1]) {
            if let Some(offered) = offered {
                let CqBeat { beat, .. } = offered;
                m.set(pins.tdata, &beat.words);
                m.set_u64(pins.tkeep, u64::MAX >> (64 - beat.bytes / DWORD));
                m.set_u64(pins.tlast, beat.last.into());
                let last_be =
                    u32::from(offered.last_be) << sideband::last_be(self.shape.width(), 0);
                let enables = u32::from(offered.first_be) | last_be;
                m.set(pins.tuser, &[enables]);
            }
        }
        for (pins, port) in p.ports.iter().zip(&inputs.ports) {
            if let Some(beat) = &port.rx {
                m.set(pins.rx_data, &beat.words);
                m.set_u64(pins.rx_bytes, beat.bytes as u64);
                m.set_u64(pins.rx_last, beat.last.into());
            }
            if let Some(rc) = port.rc {
                m.set(pins.rc_tdata, &rc.beat.data);
                m.set(pins.rc_tuser, &rc.beat.user);
            }
        }
    }

    /// Fills `outputs`, which are those of a cycle in which nothing moves.
    fn look(&self, m: &Model, inputs: &NicInputs, outputs: &mut NicOutputs) {
        let p = &self.pins;
        let flag = |port| m.get_bit(port);
        let ports = p.ports.iter().zip(&inputs.ports);
        for (moved, (pins, driven)) in outputs.ports.iter_mut().zip(ports) {
            if driven.tx_ready && flag(pins.tx_valid) {
                let bytes = m.get_u64(pins.tx_bytes) as usize;
                let tx = moved.tx.insert(Beat::EMPTY);
                tx.set(&m.get_words(pins.tx_data), bytes, flag(pins.tx_last));
            }
            if driven.rq_ready && flag(pins.rq_tvalid) {
                let rq = moved.rq.insert(RqBeat::default());
                copy(&m.get_words(pins.rq_tdata), &mut rq.data);
                copy(&m.get_words(pins.rq_tuser), &mut rq.user);
            }
            moved.rc_taken = driven.rc.is_some() && flag(pins.rc_tready);
        }
        outputs.cq_taken = inputs.cq.is_some() && flag(p.cq[0].tready);
        outputs.cq1_taken = inputs.cq1.is_some() && p.cq.get(1).is_some_and(|cq| flag(cq.tready));
        if flag(p.cc_tvalid) {
            let bytes = DWORD * m.get_u64(p.cc_tkeep).count_ones() as usize;
            let words = m.get_words(p.cc_tdata);
            outputs.cc = Some(Beat::from_port(&words, bytes, flag(p.cc_tlast)));
        }
        let out_of_range = m.get_u64(p.doorbell_out_of_range);
        let qp = |engine: usize| m.get_u64(p.counted_qp[engine]) as u32;
        for engine in 0..2 {
            let words = m.get_words(p.counted[engine]);
            if words.iter().any(|&word| word != 0) {
                let counted = outputs.counted[engine].insert((qp(engine), ArrayVec::new()));
                copy(&words, &mut counted.1);
            }
            // `valid` is the first field.
            if flag(p.sampled[engine]) {
                outputs.sampled[engine] = Some(m.get_words(p.sampled[engine]).to_vec());
            }
            if out_of_range >> engine & 1 != 0 {
                outputs.refused[engine] = Some(qp(engine));
            }
        }
        if flag(p.verdict_valid) {
            outputs.verdict = Some(m.get_u64(p.verdict_reason) as u8);
        }
        outputs.payload_mismatch = flag(p.payload_mismatch);
    }
}
