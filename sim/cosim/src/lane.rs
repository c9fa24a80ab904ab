//! The Verilated receive lane behind typed ports.

use hdl_nic::{Top, RESET_CLOCKS};
use sim_bfm::{Beat, MacBeat, WriteBeat, BEAT, PORT_BYTES_PER_CLOCK};
use sim_models::DesignModels;
use sim_verilated::{Library, Model, PortId};

use crate::world::WorldError;

/// Datapath width of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneWidth {
    /// 512 bits: 100G boards.
    Bits512,
    /// 1,024 bits: one 200G port.
    Bits1024,
}

impl LaneWidth {
    /// Bytes per beat.
    pub fn bytes(self) -> usize {
        match self {
            Self::Bits512 => 64,
            Self::Bits1024 => BEAT,
        }
    }

    /// Ethernet rate for this width, in bytes per 4 ns cycle.
    pub fn line_bytes_per_clock(self) -> u64 {
        match self {
            Self::Bits512 => PORT_BYTES_PER_CLOCK / 2,
            Self::Bits1024 => PORT_BYTES_PER_CLOCK,
        }
    }

    /// Translates the lane of this width to Verilog.
    pub fn elaborate(self) -> Result<hdl_verilog::Design, hdl_verilog::EmitError> {
        match self {
            Self::Bits512 => Top::RxLane512.elaborate(),
            Self::Bits1024 => Top::RxLane1024.elaborate(),
        }
    }
}

/// Inputs of the lane in one cycle.
#[derive(Clone, Debug, Default)]
pub struct LaneInputs<'a> {
    pub mac: Option<MacBeat>,
    /// A packed `TableWrite` that is valid.
    pub table: Option<&'a [u32]>,
    /// A fence that is valid.
    pub fence: bool,
    pub ack_ready: bool,
    pub tlp_ready: bool,
}

/// Outputs of the lane in one cycle.
#[derive(Clone, Debug, Default)]
pub struct LaneOutputs {
    pub table_taken: bool,
    pub fence_taken: bool,
    pub fence_done: bool,
    /// Index of the `DropReason` of a packet whose decision was made in this cycle (0: accepted).
    pub verdict: Option<u8>,
    /// Packed `AckRequest`.
    pub ack: Option<Vec<u32>>,
    /// A beat of a write TLP that left the lane.
    pub tlp: Option<WriteBeat>,
}

struct Ports {
    clock: PortId,
    reset: PortId,
    mac_valid: PortId,
    mac_data: PortId,
    mac_bytes: PortId,
    mac_last: PortId,
    mac_error: PortId,
    udp_port: PortId,
    mps_code: PortId,
    table_valid: PortId,
    table_write: PortId,
    table_ready: PortId,
    fence_valid: PortId,
    fence_ready: PortId,
    fence_done: PortId,
    verdict_valid: PortId,
    verdict_reason: PortId,
    ack_valid: PortId,
    ack_request: PortId,
    ack_ready: PortId,
    tlp_valid: PortId,
    tlp_ready: PortId,
    tlp_data: PortId,
    tlp_header: PortId,
    tlp_first: PortId,
    tlp_last: PortId,
    counter_select: PortId,
    counter_value: PortId,
}

/// A Verilated `RxLane` after reset.
pub struct LaneModel {
    model: Model,
    ports: Ports,
    width: LaneWidth,
}

impl LaneModel {
    /// Builds the lane. Later calls load the model from the cache. With `trace`, waves can be written.
    pub fn build(width: LaneWidth, trace: bool) -> Result<Library, WorldError> {
        let design = width.elaborate()?;
        let spec = design.model();
        let spec = if trace { spec.with_trace() } else { spec };
        Ok(spec.build()?)
    }

    /// A new lane after reset, its tables cleared, with this UDP port and maximum payload size code (0 = 128 bytes to 3 = 1,024).
    pub fn new(
        library: &Library,
        width: LaneWidth,
        udp_port: u16,
        mps_code: u8,
    ) -> Result<Self, WorldError> {
        let model = library.instantiate();
        let port = |name: &str| model.port(name);
        let ports = Ports {
            clock: port("clock")?,
            reset: port("reset")?,
            mac_valid: port("mac_valid")?,
            mac_data: port("mac_data")?,
            mac_bytes: port("mac_bytes")?,
            mac_last: port("mac_last")?,
            mac_error: port("mac_error")?,
            udp_port: port("udp_port")?,
            mps_code: port("mps_code")?,
            table_valid: port("table_valid")?,
            table_write: port("table_write")?,
            table_ready: port("table_ready")?,
            fence_valid: port("fence_valid")?,
            fence_ready: port("fence_ready")?,
            fence_done: port("fence_done")?,
            verdict_valid: port("verdict_valid")?,
            verdict_reason: port("verdict_reason")?,
            ack_valid: port("ack_valid")?,
            ack_request: port("ack_request")?,
            ack_ready: port("ack_ready")?,
            tlp_valid: port("tlp_valid")?,
            tlp_ready: port("tlp_ready")?,
            tlp_data: port("tlp_data")?,
            tlp_header: port("tlp_header")?,
            tlp_first: port("tlp_first")?,
            tlp_last: port("tlp_last")?,
            counter_select: port("counter_select")?,
            counter_value: port("counter_value")?,
        };
        let mut lane = Self {
            model,
            ports,
            width,
        };
        lane.model.set_u64(lane.ports.udp_port, u64::from(udp_port));
        lane.model.set_u64(lane.ports.mps_code, u64::from(mps_code));
        lane.model.set_u64(lane.ports.reset, 1);
        for _ in 0..4 {
            lane.model.clock(lane.ports.clock);
        }
        lane.model.set_u64(lane.ports.reset, 0);
        for _ in 0..RESET_CLOCKS {
            lane.model.clock(lane.ports.clock);
        }
        Ok(lane)
    }

    /// Width of the datapath.
    pub fn width(&self) -> LaneWidth {
        self.width
    }

    /// The model, for waves and coverage.
    pub fn model_mut(&mut self) -> &mut Model {
        &mut self.model
    }

    /// Simulates one cycle: `inputs` before the rising edge. Returns the handshakes that the edge completed.
    pub fn clock(&mut self, inputs: &LaneInputs) -> LaneOutputs {
        let (m, p) = (&mut self.model, &self.ports);
        m.set_u64(p.mac_valid, u64::from(inputs.mac.is_some()));
        if let Some(MacBeat { beat, error }) = &inputs.mac {
            m.set(p.mac_data, beat.for_port(self.width.bytes()));
            m.set_u64(p.mac_bytes, beat.bytes as u64);
            m.set_u64(p.mac_last, u64::from(beat.last));
            m.set_u64(p.mac_error, u64::from(*error));
        }
        m.set_u64(p.table_valid, u64::from(inputs.table.is_some()));
        if let Some(write) = inputs.table {
            m.set(p.table_write, write);
        }
        m.set_u64(p.fence_valid, u64::from(inputs.fence));
        m.set_u64(p.ack_ready, u64::from(inputs.ack_ready));
        m.set_u64(p.tlp_ready, u64::from(inputs.tlp_ready));
        m.eval();
        let flag = |port| m.get_u64(port) != 0;
        let outputs = LaneOutputs {
            table_taken: inputs.table.is_some() && flag(p.table_ready),
            fence_taken: inputs.fence && flag(p.fence_ready),
            fence_done: flag(p.fence_done),
            verdict: flag(p.verdict_valid).then(|| m.get_u64(p.verdict_reason) as u8),
            ack: (inputs.ack_ready && flag(p.ack_valid))
                .then(|| m.get_words(p.ack_request).to_vec()),
            tlp: (inputs.tlp_ready && flag(p.tlp_valid)).then(|| WriteBeat {
                beat: Beat::from_port(
                    &m.get_words(p.tlp_data),
                    self.width.bytes(),
                    flag(p.tlp_last),
                ),
                header: flag(p.tlp_first).then(|| m.get_words(p.tlp_header).to_vec()),
            }),
        };
        m.clock(p.clock);
        outputs
    }

    /// Whether a TLP beat is valid.
    pub fn tlp_offered(&mut self) -> bool {
        self.model.get_u64(self.ports.tlp_valid) != 0
    }

    /// Reads a counter (see `docs/rx_lane.md`); takes two cycles without input.
    pub fn counter(&mut self, index: u8) -> u64 {
        self.model
            .set_u64(self.ports.counter_select, u64::from(index));
        for _ in 0..2 {
            self.clock(&LaneInputs::default());
        }
        self.model.get_u64(self.ports.counter_value)
    }
}
