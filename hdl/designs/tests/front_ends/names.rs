//! Designs by name, alone and together.

use hdl_designs::{elaborate, together, ALL};

#[test]
fn names_are_unique_and_an_error_gives_the_closest() {
    let mut known: Vec<&str> = ALL.iter().map(|known| known.name).collect();
    known.sort_unstable();
    known.dedup();
    assert_eq!(known.len(), ALL.len());
    let error = elaborate("dma_wrte_512")
        .err()
        .map(|error| error.to_string());
    let expected = "there is no design \"dma_wrte_512\"; closest: dma_write_512";
    assert!(error.is_some_and(|error| error.starts_with(expected)));
}

/// The DMA engines cut requests with the same block, of different parameters, and share others.
#[test]
fn blocks_in_one_text_define_every_module_once() {
    let names = ["request_stream_512", "dma_write_512", "dma_read_512"].map(String::from);
    let (tops, text) = together(&names).expect("they can be translated");
    assert_eq!(tops.len(), 3);
    let mut modules: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("module "))
        .filter_map(|line| line.split([' ', '(']).next())
        .collect();
    assert!(tops.iter().all(|top| modules.contains(&top.as_str())));
    let count = modules.len();
    modules.sort_unstable();
    modules.dedup();
    assert_eq!(modules.len(), count, "a module is defined twice");
    let alone: usize = names
        .iter()
        .map(|name| elaborate(name).expect("it can be translated").modules.len())
        .sum();
    assert!(count < alone, "the DMA engines share modules");
}
