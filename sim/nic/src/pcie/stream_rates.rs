//! Payload that AMD's requester streams carry between the card and its PCIe block, against what the link behind the block carries.

use hdl_pcie::requester::{CompletionStream1024, RequestStream1024};
use rust_hdl::prelude::{Block, Synth};
use sim_bfm::{CompletionWriter, Field, RequestReader, BEAT, CLOCK_PS};
use sim_models::DesignModels;
use sim_verilated::Model;
use stellar_wire::hw::dma::WriteTlpHeader;
use stellar_wire::hw::read::ReadTlpHeader;
use stellar_wire::pcie::descriptor::{RequestType, RequesterCompletion};
use stellar_wire::pcie::{Attributes, CompletionStatus};

use crate::NicError;

/// A link of eight lanes at 32 GT/s (Gen5), which an endpoint of a V80 has, in bits per second: the encoding takes 2 bits of 130.
const LINK_BITS: f64 = 8.0 * 32e9 * 128.0 / 130.0;
/// Bytes of a TLP beside its payload: framing and sequence number 4, LCRC 4, and a header of 4 double words, or 3 of a completion (PCIe base
/// specification, sections 2.2 and 4.2). Acknowledgements and credits of the other direction are not counted.
const WRITE_OVERHEAD: usize = 24;
const COMPLETION_OVERHEAD: usize = 20;
/// Bytes of a read request.
const READ_BYTES: usize = 512;
/// Bytes that a measurement moves.
const TOTAL: usize = 1 << 18;
/// Cycles without progress after which something is wrong.
const PATIENCE: usize = 1000;

/// A stream at one payload size.
#[derive(Clone, Debug, PartialEq)]
pub struct StreamRate {
    /// What the stream carries.
    pub what: String,
    /// Payload through the stream, in Gb/s at 250 MHz.
    pub stream: f64,
    /// Payload that the link carries in such TLPs, in Gb/s.
    pub link: f64,
}

impl StreamRate {
    fn new(what: String, cycles: usize, payload: usize, overhead: usize) -> Self {
        let seconds = cycles as f64 * CLOCK_PS as f64 * 1e-12;
        let share = payload as f64 / (payload + overhead) as f64;
        Self {
            what,
            stream: TOTAL as f64 * 8e-9 / seconds,
            link: LINK_BITS * share * 1e-9,
        }
    }
}

/// Measures writes alone, writes with a read of 512 bytes for each 512 bytes, and completions, at payloads of 128, 256 and 512 bytes.
///
/// # Errors
/// [`NicError`] if a model cannot be built.
pub fn stream_rates() -> Result<Vec<StreamRate>, NicError> {
    let mut rates = Vec::new();
    for payload in [128, 256, 512] {
        let what = format!("requests: writes of {payload} bytes");
        let cycles = requests(payload, false)?;
        rates.push(StreamRate::new(what, cycles, payload, WRITE_OVERHEAD));
    }
    for payload in [128, 256, 512] {
        let what = format!("requests: writes of {payload} bytes, and as much is read");
        let reads = WRITE_OVERHEAD * payload / READ_BYTES;
        let cycles = requests(payload, true)?;
        rates.push(StreamRate::new(
            what,
            cycles,
            payload,
            WRITE_OVERHEAD + reads,
        ));
    }
    for payload in [128, 256, 512] {
        let what = format!("completions of {payload} bytes");
        let cycles = completions(payload)?;
        rates.push(StreamRate::new(what, cycles, payload, COMPLETION_OVERHEAD));
    }
    Ok(rates)
}

fn model<B: Block + Default>() -> Result<Model, NicError> {
    let mut block = Box::<B>::default();
    block.connect_all();
    let design = hdl_verilog::emit(block.as_ref())?;
    let mut model = design.model().build()?.instantiate();
    let (clock, reset) = (model.port("clock")?, model.port("reset")?);
    model.set_u64(reset, 1);
    model.clock(clock);
    model.set_u64(reset, 0);
    Ok(model)
}

fn header<T: Synth>(fields: &[(&str, u64)]) -> Vec<u32> {
    let mut words = vec![0; T::BITS.div_ceil(32)];
    for (name, value) in fields {
        Field::<T>::new(name).set(&mut words, *value);
    }
    words
}

/// Cycles for [`TOTAL`] bytes in writes of `payload`, from the first beat that leaves to the last.
fn requests(payload: usize, with_reads: bool) -> Result<usize, NicError> {
    let mut model = model::<RequestStream1024>()?;
    let clock = model.port("clock")?;
    let (write_valid, write_ready) = (model.port("write_valid")?, model.port("write_ready")?);
    let (write_data, write_header) = (model.port("write_data")?, model.port("write_header")?);
    let (first, last) = (model.port("write_first")?, model.port("write_last")?);
    let (read_valid, read_ready) = (model.port("read_valid")?, model.port("read_ready")?);
    let (read, tready) = (model.port("read")?, model.port("rq_tready")?);
    let (tvalid, tdata) = (model.port("rq_tvalid")?, model.port("rq_tdata")?);
    let tuser = model.port("rq_tuser")?;
    let dwords = payload as u64 / 4;
    let write = [
        ("length_dw", dwords),
        ("first_be", 0xf),
        ("last_be", 0xf),
        ("address_dw", 0x400),
    ];
    model.set(write_header, &header::<WriteTlpHeader>(&write));
    let request = [
        ("length_dw", READ_BYTES as u64 / 4),
        ("first_be", 0xf),
        ("last_be", 0xf),
    ];
    model.set(read, &header::<ReadTlpHeader>(&request));
    model.set(write_data, &[0x5a5a_5a5a; BEAT / 4]);
    model.set_u64(tready, 1);
    let mut reader = RequestReader::new(8 * BEAT);
    let (mut beats_in, mut reads, mut bytes, mut quiet) = (0, 0, 0, 0);
    let (mut began, mut cycle) = (None, 0);
    let beats = payload / BEAT;
    while bytes < TOTAL {
        model.set_u64(write_valid, 1);
        model.set_u64(first, (beats_in % beats == 0).into());
        model.set_u64(last, (beats_in % beats == beats - 1).into());
        let due = with_reads && reads * READ_BYTES < beats_in * BEAT;
        model.set_u64(read_valid, due.into());
        model.eval();
        beats_in += usize::from(model.get_u64(write_ready) == 1);
        reads += usize::from(due && model.get_u64(read_ready) == 1);
        quiet += 1;
        if model.get_u64(tvalid) == 1 {
            quiet = 0;
            began.get_or_insert(cycle);
            let requests = reader.push(&model.get_words(tdata), &model.get_words(tuser));
            let requests = requests.unwrap_or_else(|error| panic!("the stream: {error}"));
            let writes = requests.complete.iter();
            let writes = writes.filter(|r| r.descriptor.request_type == RequestType::MemWrite);
            bytes += writes.map(|write| write.payload.len()).sum::<usize>();
        }
        assert!(quiet < PATIENCE, "the request stream stands still");
        model.clock(clock);
        cycle += 1;
    }
    Ok(cycle - began.unwrap_or(0))
}

/// Cycles for [`TOTAL`] bytes in completions of `payload`, from the first beat that is taken to the last.
fn completions(payload: usize) -> Result<usize, NicError> {
    let mut model = model::<CompletionStream1024>()?;
    let clock = model.port("clock")?;
    let (tvalid, tready) = (model.port("rc_tvalid")?, model.port("rc_tready")?);
    let (tdata, tuser) = (model.port("rc_tdata")?, model.port("rc_tuser")?);
    let descriptor = RequesterCompletion {
        lower_address: 0,
        error_code: 0,
        byte_count: payload as u16,
        locked: false,
        request_completed: true,
        dword_count: payload as u16 / 4,
        status: CompletionStatus::Successful,
        poisoned: false,
        requester: 0,
        tag: 0,
        completer: 0,
        traffic_class: 0,
        attributes: Attributes::from_bits(0),
    };
    let mut writer = CompletionWriter::new(8 * BEAT);
    for _ in 0..TOTAL / payload {
        writer.push(&descriptor, vec![0x5a; payload], false);
    }
    let mut cycle = 0;
    while let Some(beat) = writer.next_beat(usize::MAX) {
        model.set_u64(tvalid, 1);
        model.set(tdata, &beat.data);
        model.set(tuser, &beat.user);
        let mut quiet = 0;
        loop {
            model.eval();
            let taken = model.get_u64(tready) == 1;
            model.clock(clock);
            cycle += 1;
            quiet += 1;
            if taken {
                break;
            }
            assert!(quiet < PATIENCE, "the completion stream stands still");
        }
    }
    Ok(cycle)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A port of 200G carries 195 Gb/s of payload in packets of 4,096 bytes.
    #[test]
    fn every_stream_carries_a_port_or_what_its_link_carries() {
        let rates = stream_rates().unwrap();
        assert_eq!(rates.len(), 9);
        for rate in rates {
            assert!(rate.stream >= rate.link.min(195.0) * 0.995, "{rate:?}");
        }
    }
}
