//! The registers of AMD's DCMAC that its start-up writes and reads, in their order (PG369, "Memory Map" and "Startup Procedures").
//!
//! Addresses are bytes. The DCMAC has six slots of 100G. Slot `n` has its registers 0x1000 * (`n` + 1) above those of [`address`]. A 200G port takes two
//! slots, and its mode stands in the first one: port 0 has slots 0 and 1, port 1 has slots 2 and 3. `C0` is slot 0 in the names of registers and fields.

/// Slots of a DCMAC.
pub const SLOTS: usize = 6;
/// Slots of both ports.
pub const PORT_SLOTS: usize = 4;
/// Distance between the registers of neighbouring slots, as a power of two.
pub const SLOT_SHIFT: usize = 12;

/// Addresses of registers: those of the whole DCMAC, and those of slots without the slot.
pub mod address {
    pub const GLOBAL_MODE: u64 = 0x0004;
    pub const GLOBAL_CONTROL_REG_RX: u64 = 0x00f0;
    pub const GLOBAL_CONTROL_REG_TX: u64 = 0x00f8;
    pub const CHANNEL_CONFIGURATION_TX: u64 = 0x0000;
    pub const CHANNEL_CONFIGURATION_RX: u64 = 0x0004;
    pub const CHANNEL_CONTROL_REG_RX: u64 = 0x0030;
    pub const CHANNEL_CONTROL_REG_TX: u64 = 0x0038;
    pub const TX_MODE_REG: u64 = 0x0040;
    pub const RX_MODE_REG: u64 = 0x0044;
    pub const PORT_CONTROL_REG_RX: u64 = 0x00f0;
    pub const PORT_CONTROL_REG_TX: u64 = 0x00f8;
    /// Bit 0 is `stat_rx_remote_fault`, bit 1 `stat_rx_local_fault`, both as they are now.
    pub const STAT_CHAN_RX_MAC_RT_STATUS_REG: u64 = 0x0144;
    /// Bit 0 is `stat_rx_status`, bit 2 `stat_rx_aligned`, both as they are now.
    pub const STAT_PORT_RX_PHY_RT_STATUS_REG: u64 = 0x0c04;
}

/// Values of registers.
pub mod value {
    /// GLOBAL_MODE: MAC and PCS are coupled, all ports of both PCS are active (`ctl_*_pcs_active_ports` 5), and the FEC marks errors as IEEE 802.3 has it
    /// (`ctl_rx_fec_errind_mode`, `ctl_*_fec_ck_unique_flip`): the values after reset.
    pub const GLOBAL_MODE: u64 = 0x0755_0000;
    /// CHANNEL_CONFIGURATION_RX: frames of up to 9,600 bytes (`ctl_rx_max_packet_len`); the check sequence is removed (`ctl_rx_delete_fcs`); the preamble is
    /// checked; the length field is not (`ctl_rx_ignore_inrange`). There is no register for the shortest frame, which has 64 bytes.
    pub const RECEIVER: u64 = 9_600 << 16 | 1 << 6 | 1 << 5 | 1 << 1;
    /// CHANNEL_CONFIGURATION_TX: the check sequence is added (`ctl_tx_fcs_ins_enable`), and frames are 12 bytes apart (`ctl_tx_ipg_value`).
    pub const TRANSMITTER: u64 = 12 << 8 | 1;
    /// Of CHANNEL_CONFIGURATION_TX: `ctl_tx_send_rfi`, remote faults in place of frames.
    pub const SEND_REMOTE_FAULT: usize = 3;
    /// Of CHANNEL_CONFIGURATION_TX: `ctl_tx_send_idle`, idle in place of frames.
    pub const SEND_IDLE: usize = 4;
    /// TX_MODE_REG of a 200G port: `ctl_tx_data_rate` 1; counters are latched by a register (`ctl_tx_tick_reg_mode_sel`); lanes of 53 Gb/s
    /// (`ctl_tx_pma_lane_mux` 1); `ctl_tx_fec_mode` 8, RS(544,514) of IEEE 802.3 clause 119.
    pub const TX_MODE_200G: u64 = 8 << 16 | 1 << 9 | 1 << 4 | 1;
    /// TX_MODE_REG of a slot without a mode of its own.
    pub const TX_MODE_OTHER: u64 = 4 << 16 | 1 << 9 | 1 << 4;
    /// RX_MODE_REG of a 200G port, as [`TX_MODE_200G`].
    pub const RX_MODE_200G: u64 = 8 << 16 | 1 << 12 | 1 << 11 | 1;
    /// RX_MODE_REG of a slot without a mode of its own.
    pub const RX_MODE_OTHER: u64 = 4 << 16 | 1 << 12 | 1 << 11;
    /// GLOBAL_CONTROL_REG_*: `soft_*_core_reset`.
    pub const CORE_RESET: u64 = 1;
    /// PORT_CONTROL_REG_*: `soft_*_serdes_reset`.
    pub const SERDES_RESET: u64 = 2;
    /// CHANNEL_CONTROL_REG_*: `soft_*_mac_channel_flush`.
    pub const FLUSH: u64 = 1;
    /// No reset, no flush.
    pub const RELEASE: u64 = 0;
}

/// Where a step of the sequence writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scope {
    /// One register of the DCMAC.
    Global,
    /// A register of every slot.
    All,
    /// A register of the slots of both ports.
    Ports,
    /// A register of the slots of one port.
    Port,
    /// A register of the first slot of one port.
    First,
}

/// What follows a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum After {
    /// The next step.
    Next,
    /// A pause, then the next step. PG369 asks for 50 cycles of the core clock, AMD's example takes a millisecond.
    Pause,
    /// A reset of the port's receivers in the transceivers, then the next step.
    Receivers,
    /// Looking at the ports.
    Watch,
}

/// A step of the sequence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Step {
    /// The register, one of [`address`].
    pub address: u64,
    /// What is written, one of [`value`].
    pub value: u64,
    /// What is written in slots that are not the first one of a port.
    pub other: u64,
    pub scope: Scope,
    pub after: After,
}

const fn step(address: u64, value: u64, scope: Scope, after: After) -> Step {
    Step {
        address,
        value,
        other: value,
        scope,
        after,
    }
}

const fn mode(address: u64, value: u64, other: u64) -> Step {
    Step {
        address,
        value,
        other,
        scope: Scope::All,
        after: After::Next,
    }
}

/// The number of the first step of a start.
pub const START: u64 = 0;
/// The number of the first step of a start of one port's receiver.
pub const RESTART: u64 = 17;
/// The number of the step that sets what the transmitter of a port sends.
pub const SIGNAL: u64 = 24;

/// The steps. From [`START`]: everything in reset; the modes; the transmitters, then the receivers (PG369, "Transmit" and "Receive Fixed Ethernet Startup
/// Procedure when Using" the core's resets). From [`RESTART`]: the receiver of one port again (the same "when Reconfiguring"), and its transmitter without
/// frames of before. The PCS of the transmitter goes on, so the peer stays aligned, and two peers do not restart each other for ever. [`SIGNAL`]: what the
/// transmitter of a port sends; `dcmac_sequence` adds the bits.
pub const STEPS: [Step; 25] = {
    use address::*;
    use value::{
        CORE_RESET, FLUSH, RECEIVER, RELEASE, RX_MODE_200G, RX_MODE_OTHER, SEND_REMOTE_FAULT,
        SERDES_RESET, TRANSMITTER, TX_MODE_200G, TX_MODE_OTHER,
    };
    use After::{Next, Pause, Receivers, Watch};
    use Scope::{All, First, Global, Port, Ports};
    let faults = TRANSMITTER | 1 << SEND_REMOTE_FAULT;
    [
        step(GLOBAL_CONTROL_REG_RX, CORE_RESET, Global, Next),
        step(GLOBAL_CONTROL_REG_TX, CORE_RESET, Global, Next),
        step(PORT_CONTROL_REG_RX, SERDES_RESET, All, Next),
        step(PORT_CONTROL_REG_TX, SERDES_RESET, All, Next),
        step(CHANNEL_CONTROL_REG_RX, FLUSH, All, Next),
        step(CHANNEL_CONTROL_REG_TX, FLUSH, All, Pause),
        step(GLOBAL_MODE, value::GLOBAL_MODE, Global, Next),
        step(CHANNEL_CONFIGURATION_RX, RECEIVER, All, Next),
        step(CHANNEL_CONFIGURATION_TX, faults, All, Next),
        mode(TX_MODE_REG, TX_MODE_200G, TX_MODE_OTHER),
        mode(RX_MODE_REG, RX_MODE_200G, RX_MODE_OTHER),
        step(PORT_CONTROL_REG_TX, RELEASE, Ports, Next),
        step(GLOBAL_CONTROL_REG_TX, RELEASE, Global, Pause),
        step(CHANNEL_CONTROL_REG_TX, RELEASE, Ports, Next),
        step(GLOBAL_CONTROL_REG_RX, RELEASE, Global, Pause),
        step(CHANNEL_CONTROL_REG_RX, RELEASE, Ports, Pause),
        step(PORT_CONTROL_REG_RX, RELEASE, Ports, Watch),
        // RESTART
        step(CHANNEL_CONFIGURATION_TX, faults, First, Next),
        step(CHANNEL_CONTROL_REG_TX, FLUSH, Port, Next),
        step(CHANNEL_CONTROL_REG_RX, FLUSH, Port, Next),
        step(PORT_CONTROL_REG_RX, SERDES_RESET, Port, Receivers),
        step(CHANNEL_CONTROL_REG_TX, RELEASE, Port, Next),
        step(CHANNEL_CONTROL_REG_RX, RELEASE, Port, Pause),
        step(PORT_CONTROL_REG_RX, RELEASE, Port, Watch),
        // SIGNAL
        step(CHANNEL_CONFIGURATION_TX, TRANSMITTER, First, Watch),
    ]
};
