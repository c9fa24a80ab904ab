//! `tenant_limits` against the reference, charge by charge.

use hdl_requester::tenant_limits::ANSWER_CYCLES;
use hdl_requester::TenantLimits;
use hdl_testkit::equivalence::{check, Random, TestRng};
use hdl_testkit::Dut;
use proptest::prelude::*;
use rand::Rng;
use rust_hdl::prelude::*;
use stellar_transport::endpoint::scheduler::TokenBucket;
use stellar_transport::time::Ticks;
use stellar_wire::hw::tenant::{TenantCharge, TenantEntry};
use stellar_wire::rows::TenantRow;

const TENANT_BITS: usize = 3;
type Small = TenantLimits<TENANT_BITS>;

#[test]
fn verilog_agrees_with_rust_hdl() {
    let drive = |block: &mut Small, rng: &mut TestRng| {
        block.reset.next = rng.random_ratio(1, 500);
        block.now.next = Bits::random(rng);
        block.share.valid.next = rng.random_ratio(1, 50);
        block.share.tenant.next = Bits::random(rng);
        block.share.record.next = TenantEntry {
            step: Bits::random(rng),
            rate: Bits::random(rng),
            bucket: Bits::random(rng),
        };
        for charge in &mut block.charge {
            charge.valid.next = rng.random_ratio(1, 3);
            charge.record.next = TenantCharge {
                tenant: Bits::random(rng),
                cost: Bits::random(rng),
            };
        }
    };
    check(Small::default, Some(|b| &mut b.clock), drive, 4_000, 1).expect("tenant_limits");
}

#[test]
#[should_panic(expected = "use P of 1 to 12")]
fn more_tenants_than_a_charge_can_name_are_refused() {
    let _ = TenantLimits::<13>::default();
}

/// What happens, and how many ticks later.
#[derive(Clone, Debug)]
enum Event {
    Share(u32, TenantRow),
    /// A charge of a client.
    Charge(usize, u32, u32),
    Pass(u32),
}

fn event() -> impl Strategy<Value = Event> {
    let tenant = || 0..1u32 << TENANT_BITS;
    let rate = prop_oneof![Just(0u32), Just(1), 1..2_000u32, 0..1u32 << 20];
    let bucket = prop_oneof![Just(0u16), 1..64u16, 0..1024u16];
    let row = (rate, bucket).prop_map(|(rate, bucket)| TenantRow {
        step: 1,
        rate,
        bucket,
    });
    let cost = prop_oneof![Just(0u32), 1..300u32, 0..1u32 << 15];
    let pass = prop_oneof![0..20u32, 0..100_000u32, any::<u32>()];
    prop_oneof![
        1 => (tenant(), row).prop_map(|(tenant, row)| Event::Share(tenant, row)),
        8 => (0..4usize, tenant(), cost).prop_map(|(client, tenant, cost)| Event::Charge(client, tenant, cost)),
        3 => pass.prop_map(Event::Pass),
    ]
}

struct Bench {
    dut: Dut,
    buckets: Vec<TokenBucket>,
    now: u32,
    /// Charges that are not answered yet, by client, and how long they have waited.
    waiting: [Option<(u32, u32, u64)>; 4],
    longest: u64,
}

impl Bench {
    fn new() -> Self {
        let mut dut = Dut::new::<Small>();
        dut.reset(2);
        for _ in 0..1 << TENANT_BITS {
            dut.eval();
            assert!(!dut.is("share_ready"), "a share would be lost");
            dut.clock();
        }
        Self {
            dut,
            buckets: vec![TokenBucket::new(TenantRow::default(), Ticks(0)); 1 << TENANT_BITS],
            now: 0,
            waiting: [None; 4],
            longest: 0,
        }
    }

    /// Runs one cycle at a time that does not change. Returns whether a share was accepted.
    fn clock(&mut self, share: Option<(u32, TenantRow)>) -> bool {
        self.dut.set("now", self.now.into());
        self.dut.set("share_valid", share.is_some().into());
        if let Some((tenant, row)) = share {
            self.dut.set("share_tenant", tenant.into());
            self.dut.set_record("share", row.to_hw());
        }
        for (client, waiting) in self.waiting.iter().enumerate() {
            self.dut
                .set(&format!("charge{client}_valid"), waiting.is_some().into());
            let (tenant, cost, _) = waiting.unwrap_or_default();
            let record = TenantCharge {
                tenant: u64::from(tenant).to_bits(),
                cost: u64::from(cost).to_bits(),
            };
            self.dut.set_record(&format!("charge{client}"), record);
        }
        self.dut.eval();
        for client in 0..4 {
            if !self.dut.is(&format!("charge{client}_ready")) {
                if let Some((_, _, cycles)) = &mut self.waiting[client] {
                    *cycles += 1;
                }
                continue;
            }
            let (tenant, cost, cycles) = self.waiting[client].take().expect("an answer to nothing");
            self.longest = self.longest.max(cycles);
            let expected = self.buckets[tenant as usize].pay(cost, Ticks(self.now));
            let found = self.dut.is(&format!("charge{client}_may_send"));
            assert_eq!(found, expected, "tenant {tenant} at {}", self.now);
        }
        let accepted = share.filter(|_| self.dut.is("share_ready"));
        if let Some((tenant, row)) = accepted {
            self.buckets[tenant as usize] = TokenBucket::new(row, Ticks(self.now));
        }
        self.dut.clock();
        accepted.is_some()
    }

    /// Waits until all charges are answered.
    fn settle(&mut self) {
        let mut cycles = 0;
        while self.waiting.iter().any(Option::is_some) {
            self.clock(None);
            cycles += 1;
            assert!(cycles < 100, "a charge is never answered");
        }
    }

    fn run(&mut self, event: Event) {
        match event {
            Event::Share(tenant, row) => {
                self.settle();
                while !self.clock(Some((tenant, row))) {}
            }
            Event::Charge(client, tenant, cost) => {
                if self.waiting[client].is_some() {
                    self.settle();
                }
                self.waiting[client] = Some((tenant, cost, 0));
                self.clock(None);
            }
            Event::Pass(ticks) => {
                self.settle();
                self.now = self.now.wrapping_add(ticks);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn random_charges_are_answered_as_by_the_reference(events in prop::collection::vec(event(), 1..300)) {
        let mut bench = Bench::new();
        for event in events {
            bench.run(event);
        }
        bench.settle();
        prop_assert!(bench.longest <= 4 * (ANSWER_CYCLES + 1), "{} cycles", bench.longest);
    }
}
