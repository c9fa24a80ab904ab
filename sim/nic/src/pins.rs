//! Addresses of the Verilated NIC's ports.

use hdl_nic::Shape;
use sim_verilated::{Model, PortId};

use crate::shape::chosen_shape;
use crate::NicError;

/// The shape of the card that a model is. Pins do not say how many queue pairs it has: that is what the chosen shape has, if it is a shape of these pins.
///
/// # Errors
/// [`NicError`] if the model is not a card.
pub fn shape_of(model: &Model) -> Result<Shape, NicError> {
    let ports = 1 + usize::from(model.port("rx1_valid").is_ok());
    let width = model.width(model.port("rx0_data")?);
    let shape = Shape::new(ports, width)?;
    let chosen = chosen_shape();
    let fits = chosen.ports() == ports && chosen.width() == width;
    Ok(if fits { chosen } else { shape })
}

/// Pins of one port and its PCIe endpoint.
pub struct PortPins {
    pub rx_valid: PortId,
    pub rx_data: PortId,
    pub rx_bytes: PortId,
    pub rx_last: PortId,
    pub rx_dropped: PortId,
    pub tx_valid: PortId,
    pub tx_data: PortId,
    pub tx_bytes: PortId,
    pub tx_last: PortId,
    pub tx_ready: PortId,
    pub rq_tvalid: PortId,
    pub rq_tready: PortId,
    pub rq_tdata: PortId,
    pub rq_tuser: PortId,
    pub rc_tvalid: PortId,
    pub rc_tready: PortId,
    pub rc_tdata: PortId,
    pub rc_tuser: PortId,
}

impl PortPins {
    fn of(model: &Model, p: usize) -> Result<Self, NicError> {
        let port = |name: &str| model.port(&name.replacen('#', &p.to_string(), 1));
        Ok(Self {
            rx_valid: port("rx#_valid")?,
            rx_data: port("rx#_data")?,
            rx_bytes: port("rx#_bytes")?,
            rx_last: port("rx#_last")?,
            rx_dropped: port("rx_dropped#")?,
            tx_valid: port("tx#_valid")?,
            tx_data: port("tx#_data")?,
            tx_bytes: port("tx#_bytes")?,
            tx_last: port("tx#_last")?,
            tx_ready: port("tx#_ready")?,
            rq_tvalid: port("rq#_tvalid")?,
            rq_tready: port("rq#_tready")?,
            rq_tdata: port("rq#_tdata")?,
            rq_tuser: port("rq#_tuser")?,
            rc_tvalid: port("rc#_tvalid")?,
            rc_tready: port("rc#_tready")?,
            rc_tdata: port("rc#_tdata")?,
            rc_tuser: port("rc#_tuser")?,
        })
    }
}

/// Pins of a completer request stream.
pub struct CqPins {
    pub tvalid: PortId,
    pub tready: PortId,
    pub tdata: PortId,
    pub tkeep: PortId,
    pub tlast: PortId,
    pub tuser: PortId,
}

impl CqPins {
    fn of(model: &Model, stream: &str) -> Result<Self, NicError> {
        let port = |name: &str| model.port(&format!("{stream}_{name}"));
        Ok(Self {
            tvalid: port("tvalid")?,
            tready: port("tready")?,
            tdata: port("tdata")?,
            tkeep: port("tkeep")?,
            tlast: port("tlast")?,
            tuser: port("tuser")?,
        })
    }
}

/// All pins.
pub struct Pins {
    pub clock: PortId,
    pub reset: PortId,
    pub port_up: PortId,
    /// By endpoint.
    pub cq: Vec<CqPins>,
    pub cc_tvalid: PortId,
    pub cc_tready: PortId,
    pub cc_tdata: PortId,
    pub cc_tkeep: PortId,
    pub cc_tlast: PortId,
    pub msix_enable: PortId,
    pub msix_mask: PortId,
    pub pcie_link_down: PortId,
    pub counted_qp: [PortId; 2],
    pub counted: [PortId; 2],
    pub sampled: [PortId; 2],
    pub doorbell_out_of_range: PortId,
    pub verdict_valid: PortId,
    pub verdict_reason: PortId,
    pub payload_mismatch: PortId,
    pub ports: Vec<PortPins>,
}

impl Pins {
    /// Looks them up by name.
    ///
    /// # Errors
    /// [`NicError::Model`] if the model is not a card.
    pub fn of(model: &Model) -> Result<Self, NicError> {
        let port = |name: &str| model.port(name);
        let count = shape_of(model)?.ports();
        let streams = ["cq", "cq1"].into_iter().take(count);
        Ok(Self {
            clock: port("clock")?,
            reset: port("reset")?,
            port_up: port("port_up")?,
            cq: streams
                .map(|stream| CqPins::of(model, stream))
                .collect::<Result<_, _>>()?,
            cc_tvalid: port("cc_tvalid")?,
            cc_tready: port("cc_tready")?,
            cc_tdata: port("cc_tdata")?,
            cc_tkeep: port("cc_tkeep")?,
            cc_tlast: port("cc_tlast")?,
            msix_enable: port("msix_enable")?,
            msix_mask: port("msix_mask")?,
            pcie_link_down: port("pcie_link_down")?,
            counted_qp: [port("counted0_qp")?, port("counted1_qp")?],
            counted: [port("counted0")?, port("counted1")?],
            sampled: [port("sampled0")?, port("sampled1")?],
            doorbell_out_of_range: port("doorbell_out_of_range")?,
            verdict_valid: port("verdict_valid")?,
            verdict_reason: port("verdict_reason")?,
            payload_mismatch: port("payload_mismatch")?,
            ports: (0..count)
                .map(|p| PortPins::of(model, p))
                .collect::<Result<_, _>>()?,
        })
    }
}
