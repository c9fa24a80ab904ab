//! Regions of many pages, which the card fetches lists of.

use stellar_driver::{AccessFlags, PageSize, Pages, WcStatus, WorkRequest};

use crate::verbs::cards;
use crate::verbs::hosts::{connect, open, pattern};

/// More than the driver writes through registers, and no multiple of a line of 8.
const PAGES: u64 = 301;
const PAGE: u64 = 4096;
/// Addresses of the GPU's pages. They are two pages apart, and in descending order.
const GPU: u64 = 0x70_0000_0000;
const BASE: u64 = 0x4000_0000;

fn addresses() -> Vec<u64> {
    (0..PAGES).rev().map(|page| GPU + 2 * PAGE * page).collect()
}

#[test]
fn every_page_of_a_list_is_where_it_says_and_gone_when_it_is_deregistered() {
    let (_turn, cards) = cards();
    let [a, b] = open(&cards.devices, false);
    let (qa, qb) = (a.qp(), b.qp());
    connect([&qa, &qb], 77);
    for page in addresses() {
        cards.pair.add_gpu_memory(1, page, PAGE);
    }
    let pages = Pages {
        size: PageSize::Size4K,
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
    let length = (PAGES * PAGE) as usize;
    let source = a.region(length, false);
    let sent = pattern(length, 5);
    source.memory().unwrap().write(0, &sent).unwrap();
    let to = region.remote();
    let slice = source.slice(0, length as u32).unwrap();
    qa.post_send(&WorkRequest::write(1, slice, to.address, to.rkey))
        .unwrap();
    assert_eq!(a.completions(1)[0].status, WcStatus::Success);
    for (page, sent) in addresses().into_iter().zip(sent.chunks(PAGE as usize)) {
        let mut arrived = vec![0; PAGE as usize];
        cards.pair.load_gpu_memory(1, page, &mut arrived);
        assert!(
            arrived == sent,
            "other bytes arrived in the page at {page:#x}"
        );
    }
    region.deregister().unwrap();
    let slice = source.slice(0, 8).unwrap();
    qa.post_send(&WorkRequest::write(2, slice, to.address, to.rkey))
        .unwrap();
    assert_eq!(a.completions(1)[0].status, WcStatus::RemOpErr);
    assert_eq!(
        [cards.pair.bad_accesses(0), cards.pair.bad_accesses(1)],
        [0, 0]
    );
}
