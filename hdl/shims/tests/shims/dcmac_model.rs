//! AMD's DCMAC as its registers show it, and the rules of its start-up, both written from PG369 and not from the block's list: fields by their bits, resets by
//! what they hold.

/// Directions.
pub const RX: usize = 0;
pub const TX: usize = 1;
/// PG369: a reset or a flush lasts for 25 cycles of the interface, and so does the time between a flush and a reset that end.
const SETTLES: u64 = 25;
const SLOTS: usize = 6;

/// A reset or a flush, and when it changed.
#[derive(Clone, Copy, Default, Debug)]
struct Held {
    on: bool,
    since: u64,
}

impl Held {
    fn set(&mut self, on: bool, now: u64) {
        if self.on != on {
            *self = Self { on, since: now };
        }
    }

    fn lasted(&self, now: u64) -> bool {
        now - self.since >= SETTLES
    }
}

#[derive(Clone, Default, Debug)]
pub struct Dcmac {
    core: [Held; 2],
    serdes: [[Held; SLOTS]; 2],
    flush: [[Held; SLOTS]; 2],
    /// TX_MODE_REG and RX_MODE_REG, by direction, and the configuration of channels.
    modes: [[Option<u64>; SLOTS]; 2],
    configurations: [[Option<u64>; SLOTS]; 2],
    global: Option<u64>,
    /// The PHY of a port receives a signal.
    pub signal: [bool; 2],
    /// What the peer sends in place of frames.
    pub remote_fault: [bool; 2],
    pub local_fault: [bool; 2],
    /// The transceivers of a port are ready.
    pub ready: [[bool; 2]; 2],
}

fn field(value: u64, low: u32, bits: u32) -> u64 {
    value >> low & ((1 << bits) - 1)
}

macro_rules! rule {
    ($holds:expr, $($what:tt)+) => {
        if !$holds {
            return Err(format!($($what)+));
        }
    };
}

impl Dcmac {
    /// A register is written.
    pub fn write(&mut self, address: u64, value: u64, now: u64) -> Result<(), String> {
        let Some(slot) = (address >> 12).checked_sub(1) else {
            return self.write_global(address, value, now);
        };
        let slot = slot as usize;
        rule!(slot < SLOTS, "slot {slot} does not exist");
        match address & 0xfff {
            0x000 => {
                rule!(
                    field(value, 0, 1) == 1,
                    "slot {slot}: frames leave without a check sequence"
                );
                rule!(field(value, 8, 4) == 12, "slot {slot}: another gap");
                rule!(field(value, 5, 1) == 0, "slot {slot}: another preamble");
                rule!(
                    field(value, 2, 1) == 0,
                    "slot {slot}: local faults are not ours to send"
                );
                rule!(
                    field(value, 3, 1) * field(value, 4, 1) == 0,
                    "slot {slot}: remote faults and idle at once"
                );
                self.configurations[TX][slot] = Some(value);
            }
            0x004 => {
                self.in_reset(RX, slot)?;
                rule!(
                    field(value, 16, 14) == 9_600,
                    "slot {slot}: longest frame {}",
                    field(value, 16, 14)
                );
                rule!(
                    field(value, 1, 1) == 1,
                    "slot {slot}: the check sequence stays"
                );
                rule!(
                    field(value, 2, 1) == 0,
                    "slot {slot}: wrong check sequences pass"
                );
                self.configurations[RX][slot] = Some(value);
            }
            0x030 => self.flush(RX, slot, value, now)?,
            0x038 => self.flush(TX, slot, value, now)?,
            0x040 => {
                self.in_reset(TX, slot)?;
                self.modes[TX][slot] = Some(value);
            }
            0x044 => {
                self.in_reset(RX, slot)?;
                self.modes[RX][slot] = Some(value);
            }
            0x0f0 => self.serdes(RX, slot, value, now)?,
            0x0f8 => self.serdes(TX, slot, value, now)?,
            other => {
                return Err(format!(
                    "slot {slot}: register {other:#x} is not for a start"
                ))
            }
        }
        Ok(())
    }

    fn write_global(&mut self, address: u64, value: u64, now: u64) -> Result<(), String> {
        match address {
            0x004 => {
                for direction in [RX, TX] {
                    rule!(
                        self.core[direction].on,
                        "the mode of the DCMAC changes outside of a reset"
                    );
                    let coupled = field(value, 4 * (1 - direction as u32), 1) == 0;
                    let active = field(value, 20 - 4 * direction as u32, 3);
                    rule!(coupled && active == 5, "another mode: {value:#x}");
                }
                self.global = Some(value);
            }
            0x0f0 | 0x0f8 => {
                let direction = if address == 0x0f0 { RX } else { TX };
                rule!(value <= 1, "resets {value:#x}, which are not the user's");
                if value == 0 {
                    rule!(
                        self.core[direction].lasted(now),
                        "the reset of a core is too short"
                    );
                    rule!(self.global.is_some(), "the DCMAC has no mode");
                    for slot in 0..4 {
                        self.configured(direction, slot)?;
                        // The order of both directions differs.
                        let serdes = self.serdes[direction][slot].on;
                        rule!(
                            serdes == (direction == RX),
                            "slot {slot}: the core leaves its reset out of order"
                        );
                        rule!(
                            self.flush[direction][slot].on,
                            "slot {slot}: the core leaves its reset without a flush"
                        );
                    }
                }
                self.core[direction].set(value == 1, now);
            }
            other => return Err(format!("register {other:#x} is not for a start")),
        }
        Ok(())
    }

    /// The settings of a slot in a direction may change.
    fn in_reset(&self, direction: usize, slot: usize) -> Result<(), String> {
        let held = self.core[direction].on
            && self.serdes[direction][slot].on
            && self.flush[direction][slot].on;
        rule!(held, "slot {slot}: settings change outside of a reset");
        Ok(())
    }

    fn configured(&self, direction: usize, slot: usize) -> Result<(), String> {
        let mode = self.modes[direction][slot];
        let mode = mode.ok_or_else(|| format!("slot {slot} has no mode"))?;
        let first = slot.is_multiple_of(2);
        rule!(
            field(mode, 0, 2) == u64::from(first),
            "slot {slot}: rate {}",
            field(mode, 0, 2)
        );
        rule!(
            field(mode, 16, 5) == if first { 8 } else { 4 },
            "slot {slot}: FEC {}",
            field(mode, 16, 5)
        );
        let lanes = if direction == TX {
            field(mode, 9, 2)
        } else {
            field(mode, 12, 2)
        };
        rule!(lanes == 1, "slot {slot}: lanes of another rate");
        let configured = self.configurations[direction][slot].is_some();
        rule!(configured, "slot {slot} has no configuration");
        Ok(())
    }

    fn serdes(
        &mut self,
        direction: usize,
        slot: usize,
        value: u64,
        now: u64,
    ) -> Result<(), String> {
        rule!(
            value == 0 || value == 2,
            "slot {slot}: resets {value:#x}, which are not the user's"
        );
        if value == 0 {
            rule!(slot < 4, "slot {slot} is not used");
            rule!(
                self.serdes[direction][slot].lasted(now),
                "slot {slot}: the reset is too short"
            );
            self.configured(direction, slot)?;
            if direction == TX {
                rule!(
                    self.core[TX].on,
                    "slot {slot}: the transmitter's reset ends behind that of its core"
                );
            } else {
                let flush = self.flush[RX][slot];
                rule!(
                    !self.core[RX].on,
                    "slot {slot}: the receiver's reset ends before that of its core"
                );
                rule!(
                    !flush.on && flush.lasted(now),
                    "slot {slot}: the receiver's reset ends before its flush"
                );
            }
        }
        self.serdes[direction][slot].set(value == 2, now);
        Ok(())
    }

    fn flush(&mut self, direction: usize, slot: usize, value: u64, now: u64) -> Result<(), String> {
        rule!(value <= 1, "slot {slot}: another value {value:#x}");
        if value == 0 {
            rule!(slot < 4, "slot {slot} is not used");
            rule!(
                self.flush[direction][slot].lasted(now),
                "slot {slot}: the flush is too short"
            );
            let core = self.core[direction];
            rule!(
                !core.on && core.lasted(now),
                "slot {slot}: the flush ends before the core's reset"
            );
            if direction == TX {
                rule!(
                    !self.serdes[TX][slot].on,
                    "slot {slot}: the flush ends before the transmitter's reset"
                );
                let first = slot & !1;
                let sends = self.configurations[TX][first].unwrap_or(0);
                rule!(
                    field(sends, 3, 1) == 1,
                    "slot {slot}: frames may leave before the receiver is aligned"
                );
            } else {
                rule!(
                    self.serdes[RX][slot].on,
                    "slot {slot}: the flush ends behind the receiver's reset"
                );
            }
        }
        self.flush[direction][slot].set(value == 1, now);
        Ok(())
    }

    /// What a port holds in reset or flushed.
    pub fn is_held(&self, port: usize) -> bool {
        [RX, TX].into_iter().any(|direction| {
            let of_slot =
                |slot: usize| self.serdes[direction][slot].on || self.flush[direction][slot].on;
            self.core[direction].on || of_slot(2 * port) || of_slot(2 * port + 1)
        })
    }

    pub fn is_aligned(&self, port: usize) -> bool {
        self.signal[port] && !self.is_held(port) && self.ready[port] == [true; 2]
    }

    /// What a port sends.
    pub fn sends(&self, port: usize) -> &'static str {
        let value = self.configurations[TX][2 * port].unwrap_or(0);
        match (field(value, 3, 1), field(value, 4, 1)) {
            (0, 0) => "frames",
            (1, 0) => "faults",
            (0, 1) => "idle",
            _ => "both",
        }
    }

    /// A register is read. Bits without a meaning here are those of `noise`.
    pub fn read(&self, address: u64, noise: u64) -> Result<u64, String> {
        let port = match address >> 12 {
            1 => 0,
            3 => 1,
            slot => return Err(format!("status of slot {slot}")),
        };
        match address & 0xfff {
            0xc04 => {
                let aligned = self.is_aligned(port);
                // Both bits rise together at the end, and one may be there before.
                let half = noise & 0b101 & [0b001, 0b100][(noise >> 40 & 1) as usize];
                Ok(noise & 0xffff_fffa | if aligned { 0b101 } else { half })
            }
            0x144 => {
                let bits =
                    u64::from(self.remote_fault[port]) | u64::from(self.local_fault[port]) << 1;
                Ok(noise & 0xffff_fffc | bits)
            }
            other => Err(format!("register {other:#x} is not read by a start")),
        }
    }
}
