//! Rate limits of tenants (reference: `stellar_transport::endpoint::scheduler::TokenBucket`).

use hdl_congestion::DspMultiply;
use hdl_macros::{clock, hdl, hdl_fn};
use hdl_primitives::{BlockRam, Checked, Parameters};
use rust_hdl::prelude::*;
use stellar_wire::hw::tenant::{TenantCharge, COST_BITS};
use stellar_wire::rows::{BUCKET_BITS, RATE_BITS, TENANT_BITS};

use crate::bundles::{ChargeSnk, ShareSnk};

/// Cycles from the choice of a charge to its answer. With four schedules, a charge is answered after at most four times as many.
pub const ANSWER_CYCLES: u64 = 8;
/// Bits of a level, in units of 1/1,024 byte. A bucket with this bit alone is empty; below is a debt.
const LEVEL_BITS: usize = 32;
/// Bits of half of a time, which a DSP multiplies.
const HALF: usize = 16;
/// Bits of a rate, and of its product with half of a time.
const RATE: usize = 20;
const PRODUCT: usize = RATE + HALF;

/// What the block does in a cycle.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
enum Step {
    /// Clears the rows, one per cycle.
    Sweep,
    /// Accepts a share, or chooses a charge and addresses its rows.
    Idle,
    /// The rows are valid. Computes the time since the last charge.
    Read,
    /// Both halves of the time are multiplied by the rate.
    Multiply,
    Product,
    /// Adds the products.
    Gain,
    /// Adds what was gained.
    Fill,
    /// Keeps no more than the bucket holds.
    Cap,
    /// Pays, and writes the row back.
    Answer,
}

/// Limit of a tenant.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Limit {
    rate: Bits<RATE>,
    /// KiB.
    bucket: Bits<10>,
}

/// Tokens of a tenant.
#[derive(Copy, Clone, PartialEq, Debug, Default, LogicStruct)]
struct Tokens {
    level: Bits<LEVEL_BITS>,
    /// Time at which the level was right, in ticks of 8 ns.
    at: Bits<32>,
}

/// The first client with a charge, from `turn` on. 2 levels.
#[hdl_fn]
fn first_client(valid: Bits<4>, turn: Bits<2>) -> Bits<2> {
    let mut client = turn;
    for i in (0..4).rev() {
        let candidate = turn + i as u64;
        client = if valid.get_bit(candidate.index()) {
            candidate
        } else {
            client
        };
    }
    client
}

/// Level of a full bucket.
#[hdl_fn]
fn full(bucket: Bits<10>) -> Bits<LEVEL_BITS> {
    (bits::<LEVEL_BITS>(1) << (LEVEL_BITS as u64 - 1))
        | (bit_cast::<LEVEL_BITS, 10>(bucket) << (BUCKET_BITS + RATE_BITS) as u64)
}

/// Token buckets of 2^`P` tenants, which the schedules of all ports and engines share: a limit counts what a tenant sends with all its queue pairs on all ports.
///
/// A tenant pays for what it has sent, and may go into debt by one burst of each schedule. The answer says whether there are tokens. It comes with `ready`, [`ANSWER_CYCLES`]
/// cycles after the charge was chosen; clients take turns. The bucket fills at the tenant's rate between two charges, to the bit, so questions (charges of 0) change no
/// rate. A tenant that is not charged for longer than 34 s, after which time wraps, may find fewer tokens than it has saved.
///
/// A new share starts with a full bucket. After reset no tenant has a limit; clearing the rows takes 2^`P` cycles. `P` is at most 12. Levels: 5 (choice of a client and its record),
/// otherwise carry chains of 37 bits.
#[derive(LogicBlock, Default)]
pub struct TenantLimits<const P: usize = 12> {
    _parameters: Checked<Self>,
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Ticks of 8 ns.
    pub now: Signal<In, Bits<32>>,

    pub share: ShareSnk,
    pub charge: [ChargeSnk; 4],

    limits: BlockRam<Limit, P>,
    tokens: BlockRam<Tokens, P>,
    low: DspMultiply<RATE, HALF, PRODUCT>,
    high: DspMultiply<RATE, HALF, PRODUCT>,

    step: DFF<Step>,
    swept: DFF<Bits<P>>,
    /// The client whose charge is chosen next if it has one, and the one that was chosen.
    turn: DFF<Bits<2>>,
    client: DFF<Bits<2>>,
    charged: DFF<TenantCharge>,
    time: DFF<Bits<32>>,
    limit: DFF<Limit>,
    elapsed: DFF<Bits<32>>,
    level: DFF<Bits<33>>,
    /// Tokens gained, in units of 2^16 and the rest.
    gained_high: DFF<Bits<37>>,
    gained_low: DFF<Bits<HALF>>,
}

impl<const P: usize> Parameters for TenantLimits<P> {
    fn check() {
        assert!(
            (1..=TENANT_BITS).contains(&P),
            "TenantLimits<{P}>: use P of 1 to {TENANT_BITS} (2 to 4,096 tenants)"
        );
    }
}

impl<const P: usize> Logic for TenantLimits<P> {
    #[hdl]
    fn update(&mut self) {
        dff_setup!(
            self,
            clock,
            step,
            swept,
            turn,
            client,
            charged,
            time,
            limit,
            elapsed,
            level,
            gained_high,
            gained_low
        );
        clock!(self, clock, limits, tokens, low, high);
        let step = self.step.q.val();
        let charged = self.charged.q.val();
        let limit = self.limit.q.val();
        let level = self.level.q.val();
        let time = self.time.q.val();

        // choose
        let mut valid = bits::<4>(0);
        for i in 0..4 {
            valid = valid.replace_bit(i, self.charge[i].valid.val());
        }
        let client = first_client(valid, self.turn.q.val());
        let mut chosen = self.charge[0].record.val();
        for i in 1..4 {
            chosen = if client == i as u64 {
                self.charge[i].record.val()
            } else {
                chosen
            };
        }
        let sets = self.share.valid.val();
        let set = self.share.record.val();
        let address = if step == Step::Idle {
            chosen.tenant.get_bits::<P>(0)
        } else {
            charged.tenant.get_bits::<P>(0)
        };
        self.limits.read_address.next = address;
        self.tokens.read_address.next = address;
        let held = self.tokens.read_data.val();

        // multiply
        self.low.a.next = limit.rate;
        self.low.b.next = self.elapsed.q.val().get_bits::<HALF>(0);
        self.high.a.next = limit.rate;
        self.high.b.next = self.elapsed.q.val().get_bits::<HALF>(HALF);
        let low = self.low.product.val();
        let gained_high = self.gained_high.q.val();
        let overflows = (gained_high >> (LEVEL_BITS - 1 - HALF) as u64).any();
        let gained = if overflows {
            bits::<33>(0x7fff_ffff)
        } else {
            (bit_cast::<33, 37>(gained_high) << HALF as u64)
                | bit_cast::<33, HALF>(self.gained_low.q.val())
        };

        // pay
        let cost = bit_cast::<33, COST_BITS>(charged.cost) << RATE_BITS as u64;
        let left = level - cost;
        let paid = if left.get_bit(32) {
            bits::<33>(0)
        } else {
            left
        };
        let paid_level = paid.get_bits::<LEVEL_BITS>(0);
        let below_empty = paid_level.get_bits::<{ LEVEL_BITS - 1 }>(0);
        let has_tokens = paid_level.get_bit(LEVEL_BITS - 1) & below_empty.any();
        let may_send = has_tokens | !limit.rate.any();

        // write
        let answers = step == Step::Answer;
        let accepts = (step == Step::Idle) & sets;
        let sweeps = step == Step::Sweep;
        self.share.ready.next = step == Step::Idle;
        self.limits.write_enable.next = accepts | sweeps;
        self.limits.write_address.next = if sweeps {
            self.swept.q.val()
        } else {
            self.share.tenant.val().get_bits::<P>(0)
        };
        self.limits.write_data.next = if sweeps {
            Limit::default()
        } else {
            Limit {
                rate: set.rate,
                bucket: set.bucket,
            }
        };
        self.tokens.write_enable.next = accepts | answers;
        self.tokens.write_address.next = if answers {
            charged.tenant.get_bits::<P>(0)
        } else {
            self.share.tenant.val().get_bits::<P>(0)
        };
        self.tokens.write_data.next = if answers {
            Tokens {
                level: paid_level,
                at: time,
            }
        } else {
            Tokens {
                level: full(set.bucket),
                at: self.now.val(),
            }
        };
        for i in 0..4 {
            self.charge[i].ready.next = answers & (self.client.q.val() == i as u64);
            self.charge[i].may_send.next = may_send;
        }

        match step {
            Step::Sweep => {
                self.swept.d.next = self.swept.q.val() + 1;
                if self.swept.q.val().all() {
                    self.step.d.next = Step::Idle;
                }
            }
            Step::Idle => {
                self.client.d.next = client;
                self.charged.d.next = chosen;
                self.time.d.next = self.now.val();
                if valid.any() & !sets {
                    self.turn.d.next = client + 1;
                    self.step.d.next = Step::Read;
                }
            }
            Step::Read => {
                self.limit.d.next = self.limits.read_data.val();
                self.elapsed.d.next = time - held.at;
                self.level.d.next = bit_cast::<33, LEVEL_BITS>(held.level);
                self.step.d.next = Step::Multiply;
            }
            Step::Multiply => self.step.d.next = Step::Product,
            Step::Product => self.step.d.next = Step::Gain,
            Step::Gain => {
                self.gained_high.d.next = bit_cast::<37, PRODUCT>(self.high.product.val())
                    + bit_cast::<37, { PRODUCT - HALF }>(low.get_bits::<{ PRODUCT - HALF }>(HALF));
                self.gained_low.d.next = low.get_bits::<HALF>(0);
                self.step.d.next = Step::Fill;
            }
            Step::Fill => {
                self.level.d.next = level + gained;
                self.step.d.next = Step::Cap;
            }
            Step::Cap => {
                let most = bit_cast::<33, LEVEL_BITS>(full(limit.bucket));
                if level > most {
                    self.level.d.next = most;
                }
                self.step.d.next = Step::Answer;
            }
            Step::Answer => self.step.d.next = Step::Idle,
        }
        if self.reset.val() {
            self.step.d.next = Step::Sweep;
            self.swept.d.next = bits(0);
            self.turn.d.next = bits::<2>(0);
        }
    }
}
