//! The end of the table of translations. Rows are written here without the driver, which would have to fill the table to get there: that takes
//! more than a minute of simulation, in `./stellar bench registration`.

use std::sync::Arc;

use stellar_driver::{PageSize, PciFunction, WcStatus, WorkRequest};
use stellar_wire::host::config_space::Bar;
use stellar_wire::host::registers::{Register, TableCommand, REFUSED, TABLE_COMMAND, TABLE_DATA};
use stellar_wire::rows::{ConfigSelect, EmttRow, MrRow, Owner, Row};

use crate::verbs::cards;
use crate::verbs::hosts::{connect, open, pattern};

const PAGE: u64 = 1 << 21;
const BASE: u64 = 1 << 45;
const KEY: u8 = 0xa5;
/// Final addresses of the region's first two pages.
const PLACES: [u64; 2] = [0x60_0000_0000, 0x50_0000_0000];
/// Bytes in the first page, before the boundary.
const BEFORE: usize = 1500;

struct Rows(Arc<dyn PciFunction>);

impl Rows {
    fn read(&self, register: Register) -> u64 {
        let offset = register.offset.into();
        self.0.read64(Bar::Registers, offset).unwrap()
    }

    fn write(&self, select: ConfigSelect, index: u32, row: &impl Row) {
        let store = |offset: u16, value| {
            self.0
                .write64(Bar::Registers, offset.into(), value)
                .unwrap();
        };
        let bytes = usize::from(Register::BYTES);
        for (offset, pair) in (TABLE_DATA.offset..)
            .step_by(bytes)
            .zip(row.pack().chunks(2))
        {
            let high = pair.get(1).copied().unwrap_or(0);
            store(offset, u64::from(high) << 32 | u64::from(pair[0]));
        }
        let select = select.index();
        store(
            TABLE_COMMAND.offset,
            TableCommand { select, index }.to_word(),
        );
        while self.read(TABLE_COMMAND) != 0 {
            self.0.relax();
        }
    }
}

#[test]
fn the_last_translations_are_used_and_there_are_none_behind() {
    let (_turn, cards) = cards();
    let [a, b] = open(&cards.devices, false);
    let (qa, qb) = (a.qp(), b.qp());
    connect([&qa, &qb], 177);
    // Has the table's first translation: an index that wrapped would end there.
    let _lowest = b.region(4096, true);
    let limits = cards.devices[1].limits();
    assert_eq!(u64::from(limits.translations) * PAGE, 1 << 40);
    let rows = Rows(Arc::clone(cards.devices[1].probe().function()));
    let first = limits.translations - 2;
    for (index, address) in (first..).zip(PLACES) {
        cards.pair.add_gpu_memory(1, address, PAGE);
        let entry = EmttRow {
            valid: true,
            owner: Owner::Gpu,
            device: 1,
            frame: address >> 12,
        };
        rows.write(ConfigSelect::Emtt, index, &entry);
    }
    // Three pages, of which the table has two. No region of the driver has this number yet.
    let region = limits.regions - 1;
    let entry = MrRow {
        valid: true,
        key: KEY,
        pd: b.pd.number(),
        remote_write: true,
        page_size: PageSize::Size2M,
        base_va: BASE,
        length: 3 * PAGE,
        first_emtt: first,
        ..MrRow::default()
    };
    rows.write(ConfigSelect::Mr, region, &entry);
    let rkey = region << 8 | u32::from(KEY);

    let refused = rows.read(REFUSED);
    let behind = EmttRow {
        valid: true,
        ..EmttRow::default()
    };
    rows.write(ConfigSelect::Emtt, limits.translations, &behind);
    assert_eq!(rows.read(REFUSED), refused + 1, "a row behind the table");

    let source = a.region(4096, false);
    let sent = pattern(4096, 9);
    source.memory().unwrap().write(0, &sent).unwrap();
    let write = |id, page: u64| {
        let slice = source.slice(0, 4096).unwrap();
        let to = BASE + (page + 1) * PAGE - BEFORE as u64;
        qa.post_send(&WorkRequest::write(id, slice, to, rkey))
            .unwrap();
        a.completions(1)[0].status
    };
    assert_eq!(write(1, 0), WcStatus::Success);
    let mut arrived = vec![0; 4096];
    let (before, behind) = arrived.split_at_mut(BEFORE);
    let end = PLACES[0] + PAGE - BEFORE as u64;
    cards.pair.load_gpu_memory(1, end, before);
    cards.pair.load_gpu_memory(1, PLACES[1], behind);
    assert!(arrived == sent, "other bytes arrived");
    // Writes from the last page into the page behind the table.
    assert_eq!(write(2, 1), WcStatus::RemOpErr);

    rows.write(ConfigSelect::Mr, region, &MrRow::default());
    for index in [first, first + 1] {
        rows.write(ConfigSelect::Emtt, index, &EmttRow::default());
    }
    assert_eq!(
        [cards.pair.bad_accesses(0), cards.pair.bad_accesses(1)],
        [0, 0]
    );
}
