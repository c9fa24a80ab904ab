//! The sequence of accesses that starts a DCMAC and watches its ports.

use hdl_macros::hdl;
use hdl_primitives::{Checked, Parameters};
use rust_hdl::prelude::*;

use crate::dcmac_registers::{address, value, RESTART, SIGNAL, SLOT_SHIFT, START};
use crate::dcmac_steps::{step_of, StepRecord};

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Phase {
    /// Everything begins.
    Begin,
    /// The transceivers are in reset.
    Transceivers,
    /// They start.
    Locking,
    /// The next write is looked up.
    Fetch,
    /// The next write starts.
    Write,
    /// It is under way.
    Writing,
    /// Time passes before the next step.
    Pause,
    /// The receivers of the port's transceivers are in reset.
    Receivers,
    /// They start.
    Relocking,
    /// Time passes before a port is looked at.
    Watch,
    /// Its PHY is read, then its MAC.
    ReadPhy,
    Phy,
    ReadMac,
    Mac,
    /// What was read is judged.
    Judge,
}

/// Writes the steps of [`STEPS`](crate::dcmac_registers::STEPS) and looks at both ports in turn (`docs/shims.md`, "Start-up of the DCMAC"). An access that fails, or transmitters of the
/// transceivers that are not ready, begin everything again. A port that is not aligned is started again alone.
///
/// All times are powers of two of cycles: `PAUSE`, a pause and a reset of transceivers; `POLL`, between two looks; `LIMIT`, until transceivers have to be ready. `POLLS` is
/// the looks at a port until it has to be aligned, as a power of two. `TIME` is the width of a counter of cycles, and `LOOKS` of a counter of looks.
///
/// LUT levels: 4.
#[derive(LogicBlock, Default)]
pub struct DcmacSequence<
    const PAUSE: usize,
    const POLL: usize,
    const LIMIT: usize,
    const TIME: usize,
    const POLLS: usize,
    const LOOKS: usize,
> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,

    // Accesses: see `AxiLiteAccess`.
    pub access_ready: Signal<In, Bit>,
    pub access_start: Signal<Out, Bit>,
    pub access_write: Signal<Out, Bit>,
    pub access_address: Signal<Out, Bits<16>>,
    pub access_data: Signal<Out, Bits<32>>,
    pub access_done: Signal<In, Bit>,
    pub access_failed: Signal<In, Bit>,
    pub access_read_data: Signal<In, Bits<32>>,

    /// Resets all transceivers.
    pub gt_reset: Signal<Out, Bit>,
    /// Resets the receivers of a port's transceivers.
    pub gt_rx_reset: Signal<Out, Bits<2>>,
    /// The transceivers of a port are ready.
    pub gt_tx_done: Signal<In, Bits<2>>,
    pub gt_rx_done: Signal<In, Bits<2>>,
    /// A port is in reset, a register.
    pub mac_reset: Signal<Out, Bits<2>>,
    /// A port is aligned, its peer receives, and its transmitter sends frames. A register.
    pub link_up: Signal<Out, Bits<2>>,

    phase: DFF<Phase>,
    step: DFF<Bits<5>>,
    record: DFF<StepRecord>,
    /// The slot, from slot 0 or from the port's first.
    slot: DFF<Bits<3>>,
    port: DFF<Bit>,
    time: DFF<Bits<TIME>>,
    locked: DFF<Bit>,
    looks: [DFF<Bits<LOOKS>>; 2],

    // What was read.
    aligned: DFF<Bit>,
    remote_fault: DFF<Bit>,
    local_fault: DFF<Bit>,

    // For each port.
    in_reset: DFF<Bits<2>>,
    was_aligned: DFF<Bits<2>>,
    sends_fault: DFF<Bits<2>>,
    sends_idle: DFF<Bits<2>>,
    up: DFF<Bits<2>>,
    resets_all: DFF<Bit>,
    resets_receivers: DFF<Bits<2>>,
}

impl<
        const PAUSE: usize,
        const POLL: usize,
        const LIMIT: usize,
        const TIME: usize,
        const POLLS: usize,
        const LOOKS: usize,
    > Parameters for DcmacSequence<PAUSE, POLL, LIMIT, TIME, POLLS, LOOKS>
{
    fn check() {
        assert!(
            PAUSE.max(POLL).max(LIMIT) + 1 == TIME && POLLS + 1 == LOOKS,
            "DcmacSequence of 2^{PAUSE}, 2^{POLL} and 2^{LIMIT} cycles and 2^{POLLS} looks with counters of {TIME} and {LOOKS} bits: use one bit more than the largest"
        );
    }
}

impl<
        const PAUSE: usize,
        const POLL: usize,
        const LIMIT: usize,
        const TIME: usize,
        const POLLS: usize,
        const LOOKS: usize,
    > Logic for DcmacSequence<PAUSE, POLL, LIMIT, TIME, POLLS, LOOKS>
{
    #[hdl]
    fn update(&mut self) {
        dff_setup!(self, clock, phase, step, record, slot, port, time, locked);
        dff_setup!(self, clock, aligned, remote_fault, local_fault);
        dff_setup!(
            self,
            clock,
            in_reset,
            was_aligned,
            sends_fault,
            sends_idle,
            up,
            resets_all,
            resets_receivers
        );
        for p in 0..2 {
            self.looks[p].clock.next = self.clock.val();
            self.looks[p].d.next = self.looks[p].q.val();
        }
        let phase = self.phase.q.val();
        let time = self.time.q.val();
        let record = self.record.q.val();
        let port = self.port.q.val();
        let this_port = if port { bits::<2>(2) } else { bits::<2>(1) };
        let other_port = !this_port;
        let tx_locked = self.gt_tx_done.val().all();
        let this_locked = (self.gt_rx_done.val() & this_port).any();
        self.locked.d.next = tx_locked & self.gt_rx_done.val().all();

        // The access: a write of the step, or a read of the port's first slot.
        let first = if port { bits::<3>(2) } else { bits::<3>(0) };
        let slot = if record.of_port {
            self.slot.q.val() + first
        } else {
            self.slot.q.val()
        };
        let global = record.slots == 0;
        let is_first = !slot.get_bit(0) & !slot.get_bit(2);
        let looks_at_phy = phase == Phase::ReadPhy;
        let reads = looks_at_phy | (phase == Phase::ReadMac);
        let slot_number = if reads {
            first + 1
        } else if global {
            bits::<3>(0)
        } else {
            slot + 1
        };
        let register = if looks_at_phy {
            bits::<12>(address::STAT_PORT_RX_PHY_RT_STATUS_REG)
        } else if reads {
            bits::<12>(address::STAT_CHAN_RX_MAC_RT_STATUS_REG)
        } else {
            record.address
        };
        let is_signal = self.step.q.val() == SIGNAL;
        let faults = is_signal & (self.sends_fault.q.val() & this_port).any();
        let idles = is_signal & (self.sends_idle.q.val() & this_port).any();
        let written = if is_first | global {
            record.value
        } else {
            record.other
        };
        let signals = bits::<32>(0)
            .replace_bit(value::SEND_REMOTE_FAULT, faults)
            .replace_bit(value::SEND_IDLE, idles);
        let goes = (phase == Phase::Write) | reads;
        self.access_start.next = goes & self.access_ready.val();
        self.access_write.next = !reads;
        self.access_address.next =
            (bit_cast::<16, 3>(slot_number) << (SLOT_SHIFT as u64)) | bit_cast::<16, 12>(register);
        self.access_data.next = written | signals;

        // The judgement on what was read.
        let aligned = self.aligned.q.val();
        let was_aligned = (self.was_aligned.q.val() & this_port).any();
        let wants_fault = self.local_fault.q.val();
        let wants_idle = self.remote_fault.q.val() & !wants_fault;
        let sends_fault = (self.sends_fault.q.val() & this_port).any();
        let sends_idle = (self.sends_idle.q.val() & this_port).any();
        let agrees = (wants_fault == sends_fault) & (wants_idle == sends_idle);
        let frames = !wants_fault & !wants_idle;
        let looks = if port {
            self.looks[1].q.val()
        } else {
            self.looks[0].q.val()
        };
        let gives_up = was_aligned | looks.get_bit(POLLS);

        self.time.d.next = time + 1;
        match phase {
            Phase::Begin => {
                self.time.d.next = bits(0);
                self.in_reset.d.next = bits(3);
                self.was_aligned.d.next = bits(0);
                self.sends_fault.d.next = bits(3);
                self.sends_idle.d.next = bits(0);
                self.up.d.next = bits(0);
                self.resets_receivers.d.next = bits(0);
                self.resets_all.d.next = true;
                self.step.d.next = bits(START);
                for p in 0..2 {
                    self.looks[p].d.next = bits(0);
                }
                self.phase.d.next = Phase::Transceivers;
            }
            Phase::Transceivers => {
                if time.get_bit(PAUSE) {
                    self.time.d.next = bits(0);
                    self.resets_all.d.next = false;
                    self.phase.d.next = Phase::Locking;
                }
            }
            Phase::Locking => {
                // Without a signal from the peer the receivers may stay as they are.
                if self.locked.q.val() | (time.get_bit(LIMIT) & tx_locked) {
                    self.slot.d.next = bits(0);
                    self.phase.d.next = Phase::Fetch;
                } else if time.get_bit(LIMIT) {
                    self.phase.d.next = Phase::Begin;
                }
            }
            Phase::Fetch => {
                self.record.d.next = step_of(self.step.q.val());
                self.phase.d.next = Phase::Write;
            }
            Phase::Write => {
                if self.access_ready.val() {
                    self.phase.d.next = Phase::Writing;
                }
            }
            Phase::Writing => {
                self.time.d.next = bits(0);
                if self.access_done.val() {
                    let is_last = (self.slot.q.val() + 1) >= record.slots;
                    if self.access_failed.val() {
                        self.phase.d.next = Phase::Begin;
                    } else if !is_last {
                        self.slot.d.next = self.slot.q.val() + 1;
                        self.phase.d.next = Phase::Write;
                    } else {
                        self.slot.d.next = bits(0);
                        self.step.d.next = self.step.q.val() + 1;
                        if record.watches {
                            self.in_reset.d.next = if record.of_port {
                                self.in_reset.q.val() & other_port
                            } else {
                                bits::<2>(0)
                            };
                            self.phase.d.next = Phase::Watch;
                        } else if record.receivers {
                            self.resets_receivers.d.next = this_port;
                            self.phase.d.next = Phase::Receivers;
                        } else if record.pauses {
                            self.phase.d.next = Phase::Pause;
                        } else {
                            self.phase.d.next = Phase::Fetch;
                        }
                    }
                }
            }
            Phase::Pause => {
                if time.get_bit(PAUSE) {
                    self.phase.d.next = Phase::Fetch;
                }
            }
            Phase::Receivers => {
                if time.get_bit(PAUSE) {
                    self.time.d.next = bits(0);
                    self.resets_receivers.d.next = bits(0);
                    self.phase.d.next = Phase::Relocking;
                }
            }
            Phase::Relocking => {
                // They may need some cycles until they say that they are not ready.
                if (this_locked & time.get_bit(PAUSE)) | time.get_bit(LIMIT) {
                    self.phase.d.next = Phase::Fetch;
                }
            }
            Phase::Watch => {
                if !tx_locked {
                    self.phase.d.next = Phase::Begin;
                } else if time.get_bit(POLL) {
                    self.port.d.next = !port;
                    self.phase.d.next = Phase::ReadPhy;
                }
            }
            Phase::ReadPhy => {
                if self.access_ready.val() {
                    self.phase.d.next = Phase::Phy;
                }
            }
            Phase::Phy => {
                let read = self.access_read_data.val();
                self.aligned.d.next = read.get_bit(0) & read.get_bit(2);
                if self.access_done.val() {
                    self.phase.d.next = if self.access_failed.val() {
                        Phase::Begin
                    } else {
                        Phase::ReadMac
                    };
                }
            }
            Phase::ReadMac => {
                if self.access_ready.val() {
                    self.phase.d.next = Phase::Mac;
                }
            }
            Phase::Mac => {
                let read = self.access_read_data.val();
                self.remote_fault.d.next = read.get_bit(0);
                self.local_fault.d.next = read.get_bit(1);
                if self.access_done.val() {
                    self.phase.d.next = if self.access_failed.val() {
                        Phase::Begin
                    } else {
                        Phase::Judge
                    };
                }
            }
            Phase::Judge => {
                self.time.d.next = bits(0);
                self.slot.d.next = bits(0);
                for p in 0..2 {
                    if port == (p == 1) {
                        self.looks[p].d.next = if aligned | gives_up {
                            bits::<LOOKS>(0)
                        } else {
                            looks + 1
                        };
                    }
                }
                if aligned {
                    self.was_aligned.d.next = self.was_aligned.q.val() | this_port;
                    if agrees {
                        self.up.d.next = if frames {
                            self.up.q.val() | this_port
                        } else {
                            self.up.q.val() & other_port
                        };
                        self.phase.d.next = Phase::Watch;
                    } else {
                        self.up.d.next = self.up.q.val() & other_port;
                        self.sends_fault.d.next = if wants_fault {
                            self.sends_fault.q.val() | this_port
                        } else {
                            self.sends_fault.q.val() & other_port
                        };
                        self.sends_idle.d.next = if wants_idle {
                            self.sends_idle.q.val() | this_port
                        } else {
                            self.sends_idle.q.val() & other_port
                        };
                        self.step.d.next = bits(SIGNAL);
                        self.phase.d.next = Phase::Fetch;
                    }
                } else if gives_up {
                    self.was_aligned.d.next = self.was_aligned.q.val() & other_port;
                    self.in_reset.d.next = self.in_reset.q.val() | this_port;
                    self.sends_fault.d.next = self.sends_fault.q.val() | this_port;
                    self.sends_idle.d.next = self.sends_idle.q.val() & other_port;
                    self.up.d.next = self.up.q.val() & other_port;
                    self.step.d.next = bits(RESTART);
                    self.phase.d.next = Phase::Fetch;
                } else {
                    self.phase.d.next = Phase::Watch;
                }
            }
        }
        if self.reset.val() {
            self.phase.d.next = Phase::Begin;
        }

        self.gt_reset.next = self.resets_all.q.val();
        self.gt_rx_reset.next = self.resets_receivers.q.val();
        self.mac_reset.next = self.in_reset.q.val();
        self.link_up.next = self.up.q.val();
    }
}
