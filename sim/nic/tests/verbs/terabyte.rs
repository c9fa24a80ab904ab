//! A region that takes every translation of a card.

use stellar_driver::{AccessFlags, Error, PageSize, Pages, WcStatus, WorkRequest};

use crate::cards;
use crate::hosts::{bytes, connect, open, pattern};

/// 2 MiB: so many of them are 1 TiB.
const PAGE: u64 = 1 << 21;
const PAGES: u64 = 1 << 19;
/// Where most pages are: nothing is there.
const ELSEWHERE: u64 = 1 << 44;
const BASE: u64 = 1 << 45;
/// First pages of the places that are written: the table's ends, and where bits of an index of the table change.
const PLACES: [u64; 5] = [
    0,
    (1 << 17) - 1,
    (1 << 18) - 1,
    (1 << 18) + (1 << 17) - 1,
    PAGES - 2,
];
const LENGTH: u64 = 4096;

/// The two pages of a place, far apart.
fn final_addresses(place: u64) -> [u64; 2] {
    [
        0x60_0000_0000 + 4 * PAGE * place,
        0x50_0000_0000 + 6 * PAGE * place,
    ]
}

fn addresses() -> Vec<u64> {
    let mut addresses: Vec<u64> = (0..PAGES).map(|page| ELSEWHERE + page * PAGE).collect();
    for (place, page) in (0..).zip(PLACES) {
        addresses[page as usize..][..2].copy_from_slice(&final_addresses(place));
    }
    addresses
}

/// 1 TiB in pages of 2 MiB is written from end to end by a peer, and read.
#[test]
fn a_terabyte_of_2_mib_pages_has_each_where_its_translation_says() {
    let (_turn, cards) = cards();
    let [a, b] = open(&cards.devices, false);
    let (qa, qb) = (a.qp(), b.qp());
    connect([&qa, &qb], 177);
    let pages = Pages {
        size: PageSize::Size2M,
        addresses: addresses(),
        base: BASE,
        device: 1,
    };
    let access = AccessFlags {
        remote_write: true,
        ..AccessFlags::default()
    };
    // SAFETY: the simulated GPU's memory belongs to this test alone.
    let region = unsafe { b.pd.register_translated(pages, access) }.unwrap();
    assert_eq!(region.length(), 1 << 40);
    let more = b.pd.register(b.context.alloc(4096).unwrap(), access);
    assert!(matches!(more, Err(Error::Exhausted { have, .. }) if u64::from(have) == PAGES));

    let (source, back) = (
        a.region(LENGTH as usize, false),
        a.region(LENGTH as usize, true),
    );
    let to = region.remote();
    for (place, page) in (0..).zip(PLACES) {
        let sent = pattern(LENGTH as usize, place as u8);
        source.memory().unwrap().write(0, &sent).unwrap();
        let [first, second] = final_addresses(place);
        for page in [first, second] {
            cards.pair.add_gpu_memory(1, page, PAGE);
        }
        // Over the boundary of the two pages.
        let (offset, cut) = ((page + 1) * PAGE - 1500, 1500);
        let slice = source.slice(0, LENGTH as u32).unwrap();
        qa.post_send(&WorkRequest::write(1, slice, to.address + offset, to.rkey))
            .unwrap();
        assert_eq!(a.completions(1)[0].status, WcStatus::Success, "page {page}");
        let mut arrived = vec![0; LENGTH as usize];
        let (before, behind) = arrived.split_at_mut(cut);
        cards.pair.load_gpu_memory(1, first + PAGE - 1500, before);
        cards.pair.load_gpu_memory(1, second, behind);
        assert!(
            arrived == sent,
            "other bytes arrived in pages {page} and {}",
            page + 1
        );

        let slice = region.slice(offset, LENGTH as u32).unwrap();
        let home = back.remote();
        qb.post_send(&WorkRequest::write(2, slice, home.address, home.rkey))
            .unwrap();
        assert_eq!(b.completions(1)[0].status, WcStatus::Success, "page {page}");
        assert!(
            bytes(&back) == sent,
            "other bytes were read from pages {page} and {}",
            page + 1
        );
    }

    region.deregister().unwrap();
    let last = to.address + to.length - 8;
    let slice = source.slice(0, 8).unwrap();
    qa.post_send(&WorkRequest::write(3, slice, last, to.rkey))
        .unwrap();
    assert_eq!(a.completions(1)[0].status, WcStatus::RemOpErr);
    assert_eq!([cards.pair.strays(0), cards.pair.strays(1)], [0, 0]);
}
