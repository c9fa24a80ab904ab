//! A receive lane and the world around it.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sim_cosim::{LaneModel, RegionSpec, Session, SessionConfig, CLOCK_PS};
use sim_pcie::{AddressType, MemWrite};
use stellar_transport::rx::{AckBody, AckRequest, DropReason, MaxPayload, Owner, TableWrite};

use super::arguments::{self, lane_width, owner, page_size, qp_context};
use super::{failed, invalid};

/// One page of a region: its address for the requester, its address on the bus, and its size.
struct Page {
    va: u64,
    bus: u64,
    size: u64,
    translated: bool,
}

/// A receive lane, and the world around it.
#[pyclass(unsendable, module = "openstellar._native")]
pub struct Lane {
    session: Session,
    frames: Vec<Vec<u8>>,
    pages: Vec<Page>,
    /// Number of frames whose bytes are already expected in memory.
    expected: usize,
}

#[pymethods]
impl Lane {
    /// Builds or loads the model, and resets the lane. `pacing` is "line", "every-clock" or "random".
    #[new]
    #[pyo3(signature = (width, pacing, seed, max_payload, waves))]
    fn new(
        py: Python<'_>,
        width: u32,
        pacing: &str,
        seed: u64,
        max_payload: usize,
        waves: Option<std::path::PathBuf>,
    ) -> PyResult<Self> {
        let width = lane_width(width)?;
        let mut config = SessionConfig::new(width);
        config.max_payload = MaxPayload::new(max_payload).map_err(invalid)?;
        config.pacing = arguments::pacing(pacing, seed, width)?;
        let traced = waves.is_some();
        let library = py
            .detach(|| LaneModel::build(width, traced))
            .map_err(failed)?;
        let mut session = Session::new(&library, &config).map_err(failed)?;
        if let Some(waves) = waves {
            let model = session.world.lane.model_mut();
            model.open_trace(waves).map_err(failed)?;
        }
        Ok(Self {
            session,
            frames: vec![],
            pages: vec![],
            expected: 0,
        })
    }

    #[pyo3(signature = (number, mode, pd, mtu, psn, pkey, remote_write))]
    #[allow(clippy::too_many_arguments)] // keyword arguments of a Python function
    fn add_qp(
        &mut self,
        number: u32,
        mode: &str,
        pd: u32,
        mtu: u32,
        psn: u32,
        pkey: u16,
        remote_write: bool,
    ) -> PyResult<()> {
        let context = qp_context(mode, pd, mtu, psn, pkey, remote_write)?;
        self.session.write_qp(number, context).map_err(failed)
    }

    #[pyo3(signature = (rkey, va, length, pd, page, memory))]
    fn add_region(
        &mut self,
        rkey: u32,
        va: u64,
        length: u64,
        pd: u32,
        page: u64,
        memory: &str,
    ) -> PyResult<()> {
        let owner = owner(memory)?;
        let page = page_size(page)?;
        if length == 0 {
            return Err(invalid("a region holds at least one byte"));
        }
        let Session { world, map, .. } = &mut self.session;
        let spec = RegionSpec {
            rkey,
            pd,
            va,
            length,
            page,
        };
        let writes = map.add_region(&mut world.fabric, spec, |_| owner);
        let mut start = va & !(page.bytes() - 1);
        for write in &writes {
            self.session.write_table(write).map_err(failed)?;
            if let TableWrite::Emtt { entry, .. } = write {
                self.pages.push(Page {
                    va: start,
                    bus: entry.frame << 12,
                    size: page.bytes(),
                    translated: entry.owner == Owner::Gpu,
                });
                start += page.bytes();
            }
        }
        Ok(())
    }

    /// Queues a frame, from the destination address to the last byte before the FCS.
    fn receive(&mut self, frame: Vec<u8>, mac_error: bool) -> PyResult<()> {
        if frame.is_empty() {
            return Err(invalid("an empty frame: a MAC never delivers one"));
        }
        self.session.receive(frame.clone(), mac_error);
        self.frames.push(frame);
        Ok(())
    }

    /// Simulates until everything queued is finished, and compares with the reference and with memory.
    fn run(&mut self, py: Python<'_>) -> PyResult<()> {
        // The session must stay on this thread, so Python waits. Ctrl-C is checked at the end.
        self.session.settle_and_compare().map_err(failed)?;
        self.session
            .expect_packets(&self.frames[self.expected..], self.expected);
        self.expected = self.frames.len();
        self.session.verify_memory().map_err(failed)?;
        py.check_signals()
    }

    /// The outcome of each frame, by name.
    fn verdicts(&self) -> Vec<String> {
        let verdicts = self.session.world.verdicts.iter();
        verdicts
            .map(|&index| format!("{:?}", DropReason::ALL[usize::from(index)]))
            .collect()
    }

    /// The lane's own counters, read through its port.
    fn counters<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = PyDict::new(py);
        for reason in DropReason::ALL {
            let value = self.session.world.lane.counter(reason.index());
            counters.set_item(format!("{reason:?}"), value)?;
        }
        Ok(counters)
    }

    /// Acknowledgement requests, each with the fields of its kind.
    fn acks<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let acks = self.session.outcomes.iter().filter_map(|o| o.ack.as_ref());
        acks.take(self.session.world.acks.len())
            .map(|ack| describe(py, ack))
            .collect()
    }

    /// Memory writes that left the lane: cycle of the last beat, address on the bus, whether translated (AT = 10), bytes.
    fn writes<'py>(&self, py: Python<'py>) -> Vec<(u64, u64, bool, Bound<'py, PyBytes>)> {
        let writes = self.session.world.writes.iter();
        writes
            .map(|(clock, write)| {
                let (address, bytes) = span(write);
                let translated = write.at == AddressType::Translated;
                (*clock, address, translated, PyBytes::new(py, bytes))
            })
            .collect()
    }

    /// The bytes that the lane wrote to `length` bytes from `va`; bytes that it did not write are zero.
    fn read<'py>(&self, py: Python<'py>, va: u64, length: usize) -> PyResult<Bound<'py, PyBytes>> {
        let mut bytes = vec![0; length];
        let mut at = va;
        while at < va + length as u64 {
            let page = self
                .pages
                .iter()
                .find(|page| (page.va..page.va + page.size).contains(&at))
                .ok_or_else(|| invalid(format!("no region has a page at {at:#x}")))?;
            let end = (page.va + page.size).min(va + length as u64);
            let target = &mut bytes[(at - va) as usize..(end - va) as usize];
            self.read_page(page, page.bus + (at - page.va), target);
            at = end;
        }
        Ok(PyBytes::new(py, &bytes))
    }

    /// Every frame received so far.
    fn frames<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyBytes>> {
        let frames = self.frames.iter();
        frames.map(|frame| PyBytes::new(py, frame)).collect()
    }

    /// Simulated time in picoseconds.
    fn time_ps(&self) -> u64 {
        self.session.world.stats.clocks * CLOCK_PS
    }

    /// Finishes the wave file.
    fn close_waves(&mut self) {
        self.session.world.lane.model_mut().close_trace();
    }
}

impl Lane {
    /// Fills `target` with the bytes written to the bus from `address` on.
    fn read_page(&self, page: &Page, address: u64, target: &mut [u8]) {
        let end = address + target.len() as u64;
        for (_, write) in &self.session.world.writes {
            if (write.at == AddressType::Translated) != page.translated {
                continue;
            }
            let (first, bytes) = span(write);
            let (from, to) = (first.max(address), (first + bytes.len() as u64).min(end));
            if from < to {
                target[(from - address) as usize..(to - address) as usize]
                    .copy_from_slice(&bytes[(from - first) as usize..(to - first) as usize]);
            }
        }
    }
}

/// Address of the first byte that is written, and the bytes. The lane writes without gaps.
fn span(write: &MemWrite) -> (u64, &[u8]) {
    let skipped = write.first_be.trailing_zeros() as usize;
    let last = match write.last_be {
        0 => write.first_be,
        enables => enables,
    };
    let kept = write.data.len() - (last.leading_zeros() as usize - 4);
    (write.address + skipped as u64, &write.data[skipped..kept])
}

fn describe<'py>(py: Python<'py>, ack: &AckRequest) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("kind", format!("{:?}", ack.body.kind()))?;
    fields.set_item("qp", ack.qp)?;
    fields.set_item("psn", ack.body.psn().value())?;
    fields.set_item("reason", format!("{:?}", ack.reason))?;
    fields.set_item("ecn_ce", ack.ecn_ce)?;
    fields.set_item("syndrome", ack.body.syndrome())?;
    if let AckBody::Sack {
        cack_psn,
        bitmap_base,
        bitmap,
        ..
    } = ack.body
    {
        fields.set_item("cack_psn", cack_psn.value())?;
        fields.set_item("bitmap_base", bitmap_base.value())?;
        fields.set_item("bitmap", bitmap)?;
    }
    Ok(fields)
}
