//! Disaggregated inference on two simulated hosts: the decoder requests the KV cache of a sequence from the prefiller and names its own pages. Then
//! it waits until that number of pages has arrived, in any order.
//!
//! ```text
//! cargo run --example kv_cache
//! ```

use std::error::Error;
use std::time::Duration;

use rand::seq::SliceRandom;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use sim_nic::CardPair;
use stellar_driver::{DeviceConfig, PortAddress, Probe};
use stellar_transfer::{
    Access, DriverNic, DriverNicConfig, Engine, EngineConfig, EngineId, Event, LocalRegion, Memory,
    Pages, RegionDescriptor, Senders, Transfer,
};

const LAYERS: u32 = 8;
/// Pages of the sequence, in each layer.
const PAGES: u32 = 16;
/// Pages of each layer at each host.
const POOL: u32 = 40;
const PAGE_BYTES: u32 = 16 << 10;
/// NICs of each engine: contexts of one card, each with a queue pair, because the card starts the writes of a queue pair one at a time.
const NICS: usize = 2;
/// Longest time of the transfer on the cards' clock.
const PATIENCE: Duration = Duration::from_millis(10);

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// The decoder's request.
#[derive(Serialize, Deserialize)]
struct Ask {
    sequence: u32,
    cache: RegionDescriptor,
    /// Page of the pool for each page of the sequence.
    table: Vec<u32>,
    /// The immediate that is counted.
    immediate: u32,
}

/// A host with its engine, its cache, and the pages of the sequence in it.
struct Host {
    engine: Engine<DriverNic>,
    cache: LocalRegion<DriverNic>,
    table: Vec<u32>,
}

/// Offset of a page in the cache. The cache has one layer after the other, each with all of its pages.
const fn place(layer: u32, page: u32) -> u64 {
    (layer * POOL + page) as u64 * PAGE_BYTES as u64
}

/// Content of a page of the sequence.
fn content(layer: u32, page: u32) -> Vec<u8> {
    (0..PAGE_BYTES)
        .map(|i| (i * 31 + i / 255 + layer * 101 + page * 7) as u8)
        .collect()
}

fn host(pair: &CardPair, number: u8, rng: &mut ChaCha8Rng) -> Result<Host> {
    let ports = [0, 1].map(|plane| PortAddress {
        mac: [2, 0, 0, plane, 0, number + 1],
        ip: [10, plane, 0, number + 1].into(),
    });
    let probe = Probe::new(pair.function(number.into()))?;
    let device = probe.bring_up(DeviceConfig::new(ports, number.into()))?;
    let nic = |_| -> Result<_> { Ok(DriverNic::new(device.open()?, DriverNicConfig::default())?) };
    let nics = (0..NICS).map(nic).collect::<Result<_>>()?;
    let engine = Engine::new(EngineConfig::new(EngineId(number.into())), nics)?;
    let memory = engine.allocate(place(LAYERS, 0))?;
    let cache = engine.register(memory, Access::RemoteWrite)?;
    let mut pool: Vec<u32> = (0..POOL).collect();
    pool.shuffle(rng);
    pool.truncate(PAGES as usize);
    Ok(Host {
        engine,
        cache,
        table: pool,
    })
}

fn memory(host: &Host) -> Result<&impl Memory> {
    host.cache.memory().ok_or_else(|| "no host memory".into())
}

/// Replies to the request: one transfer for each layer, as a model that has computed it would start it.
fn serve(host: &mut Host, bytes: &[u8]) -> Result<()> {
    let ask: Ask = serde_json::from_slice(bytes)?;
    println!(
        "host 0: sequence {} is asked for: pages {:?} to pages {:?}",
        ask.sequence, host.table, ask.table
    );
    for layer in 0..LAYERS {
        let pages = |indices: &[u32]| Pages {
            offset: place(layer, 0),
            stride: PAGE_BYTES.into(),
            indices: indices.to_vec(),
        };
        let (source, target) = (pages(&host.table), pages(&ask.table));
        let transfer = Transfer::pages(&host.cache, source, &ask.cache, target, PAGE_BYTES);
        let transfer = transfer.with_immediate(ask.immediate);
        host.engine.submit(&transfer)?;
    }
    Ok(())
}

/// Compares every byte of the decoder's cache, also of pages that must not change.
fn compare(host: &Host) -> Result<usize> {
    let mut found = vec![0; PAGE_BYTES as usize];
    let mut compared = 0;
    for layer in 0..LAYERS {
        for page in 0..POOL {
            memory(host)?.read(place(layer, page), &mut found)?;
            let expected = match host.table.iter().position(|&mine| mine == page) {
                Some(index) => content(layer, index as u32),
                None => vec![0; PAGE_BYTES as usize],
            };
            if found != expected {
                return Err(format!("layer {layer}, page {page}: other bytes").into());
            }
            compared += found.len();
        }
    }
    Ok(compared)
}

fn main() -> Result<()> {
    const COUNTED: u32 = 0x5e90_0007;
    let rng = &mut ChaCha8Rng::seed_from_u64(7);
    let pair = CardPair::new()?;
    let [mut prefill, mut decode] = [host(&pair, 0, rng)?, host(&pair, 1, rng)?];
    for layer in 0..LAYERS {
        for (index, &page) in (0..).zip(&prefill.table) {
            let at = place(layer, page);
            memory(&prefill)?.write(at, &content(layer, index))?;
        }
    }
    // Between two real hosts, this information goes over a stream: `stellar_transfer::join`.
    let offers = (prefill.engine.offer()?, decode.engine.offer()?);
    let told = (offers.0.offer().clone(), offers.1.offer().clone());
    prefill.engine.connect(offers.0, &told.1)?;
    let peer = decode.engine.connect(offers.1, &told.0)?;

    let count = u64::from(LAYERS * PAGES);
    let senders = Senders::These(vec![peer]);
    decode.engine.expect(COUNTED, count, senders)?;
    let ask = Ask {
        sequence: 7,
        cache: decode.cache.descriptor().clone(),
        table: decode.table.clone(),
        immediate: COUNTED,
    };
    let function = pair.function(0);
    let began = function.now();
    decode.engine.call(peer, &serde_json::to_vec(&ask)?)?;
    let mut first = None;
    let took = loop {
        let busy = prefill.engine.progress() | decode.engine.progress();
        if !busy {
            decode.engine.relax();
        }
        match prefill.engine.next_event() {
            Some(Event::Request { request, bytes }) => {
                first = Some(function.now());
                serve(&mut prefill, &bytes)?;
                prefill.engine.reply(request, b"begun")?;
            }
            Some(Event::Lost(lost)) => return Err(lost.into()),
            _ => {}
        }
        match decode.engine.next_event() {
            Some(Event::Reached { result, .. }) => {
                result?;
                break function.now() - began;
            }
            Some(Event::Response { result, .. }) => {
                let answer = String::from_utf8(result?)?;
                let arrived = decode.engine.arrivals(COUNTED);
                println!("host 1: the answer, '{answer}', came when {arrived} of {count} pages had arrived");
            }
            _ => {}
        }
        if function.now() - began > PATIENCE {
            return Err("the pages do not arrive".into());
        }
    };
    let bits = 8 * count * u64::from(PAGE_BYTES);
    let moving = took - first.map_or(Duration::ZERO, |first| first - began);
    println!("host 1: {count} pages of {PAGE_BYTES} bytes in {LAYERS} layers are there, counted by immediate {COUNTED:#010x}");
    println!(
        "simulated time: {:.2} us from the request on, {:.2} us of them for the pages over {NICS} queue pairs: {:.1} Gb/s",
        took.as_secs_f64() * 1e6,
        moving.as_secs_f64() * 1e6,
        bits as f64 / moving.as_secs_f64() / 1e9,
    );
    let compared = compare(&decode)?;
    println!("{compared} bytes compared: equal");
    Ok(())
}
