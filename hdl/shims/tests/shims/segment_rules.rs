//! What the DCMAC's transmit side demands of segments (PG369, *Transmit Segmented AXI4-Stream* and *Aborting a Transmission*).
use hdl_testkit::Dut;
use thiserror::Error;

use crate::segments::{Bytes, Segment, SEGMENT};
use crate::wire::{AROUND, BYTE_FS};

/// The segments of a cycle. `None` is one that is not in use.
pub type Cycle = [Option<Segment>; 4];

/// Femtoseconds for a byte at 200 Gb/s.
pub const BYTE_200G_FS: u64 = BYTE_FS / 2;

/// Segments of the shortest frame. They are those from `sop` to `sop` too, because frames follow each other.
const SHORTEST: usize = 4;

/// Which rule a cycle breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Error)]
pub enum Violation {
    #[error("tvalid falls inside a frame")]
    Gap,
    #[error("an offer changes or ends before tready")]
    Changed,
    #[error("segment {0} is in use behind one that is not")]
    Hole(usize),
    #[error("tvalid without a segment in use")]
    Unused,
    #[error("segment {0} is not in use inside a frame")]
    Short(usize),
    #[error("segment {0} has sop inside a frame")]
    SopInside(usize),
    #[error("segment {0} belongs to no frame")]
    NoSop(usize),
    #[error("a frame of {0} segments")]
    TooFewSegments(usize),
    #[error("segment {0} has mty without eop")]
    MtyWithoutEop(usize),
    #[error("segment {0} has err without eop")]
    ErrWithoutEop(usize),
}

/// Cycles to the MAC, to frames.
#[derive(Default)]
pub struct Wire {
    part: Vec<u8>,
    /// The offer that the MAC did not take.
    waits: Option<Cycle>,
    pub frames: Vec<Bytes>,
    /// Segment at which each frame began.
    pub places: Vec<usize>,
    /// Femtoseconds that what left takes on a wire of 200 Gb/s.
    pub time: u64,
}

impl Wire {
    /// Takes the cycle of before an edge from the pins, and returns whether the MAC did.
    ///
    /// # Panics
    /// If it breaks a rule.
    pub fn take(&mut self, dut: &Dut) -> bool {
        let cycle = dut.is("tx_axis_tvalid").then(|| at_pins(dut));
        self.see(cycle, dut.is("tx_axis_tready"))
            .unwrap_or_else(|violation| panic!("{violation}, in frame {}", self.places.len()))
    }

    /// The same of a cycle. `None` is one without `tvalid`.
    pub fn see(&mut self, cycle: Option<Cycle>, ready: bool) -> Result<bool, Violation> {
        if self.waits.is_some_and(|waits| cycle != Some(waits)) {
            return Err(Violation::Changed);
        }
        self.waits = cycle.filter(|_| !ready);
        let Some(cycle) = cycle else {
            return if self.part.is_empty() {
                Ok(false)
            } else {
                Err(Violation::Gap)
            };
        };
        if ready {
            self.add(&cycle)?;
        }
        Ok(ready)
    }

    fn add(&mut self, cycle: &Cycle) -> Result<(), Violation> {
        let used = cycle.iter().take_while(|segment| segment.is_some()).count();
        if let Some(place) = (used..4).find(|&place| cycle[place].is_some()) {
            return Err(Violation::Hole(place));
        }
        if used == 0 {
            return Err(Violation::Unused);
        }
        for (place, segment) in cycle.iter().flatten().enumerate() {
            self.add_segment(place, *segment)?;
        }
        if !self.part.is_empty() && used < 4 {
            return Err(Violation::Short(used));
        }
        Ok(())
    }

    fn add_segment(&mut self, place: usize, segment: Segment) -> Result<(), Violation> {
        match (segment.sop, self.part.is_empty()) {
            (true, true) => self.places.push(place),
            (false, false) => {}
            (true, false) => return Err(Violation::SopInside(place)),
            (false, true) => return Err(Violation::NoSop(place)),
        }
        if !segment.eop && segment.mty > 0 {
            return Err(Violation::MtyWithoutEop(place));
        }
        if !segment.eop && segment.err {
            return Err(Violation::ErrWithoutEop(place));
        }
        let bytes = SEGMENT - segment.mty;
        let count = self.part.len() / SEGMENT + 1;
        self.part.extend(&segment.data[..bytes]);
        self.time += bytes as u64 * BYTE_200G_FS;
        if segment.eop {
            if count < SHORTEST {
                return Err(Violation::TooFewSegments(count));
            }
            self.time += AROUND as u64 * BYTE_200G_FS;
            let part = std::mem::take(&mut self.part);
            self.frames.push((part, segment.err));
        }
        Ok(())
    }

    /// The MAC is in reset: it forgets the frame that has begun.
    pub fn abandon(&mut self) {
        self.part.clear();
        self.waits = None;
        self.places.truncate(self.frames.len());
    }
}

fn at_pins(dut: &Dut) -> Cycle {
    std::array::from_fn(|place| {
        let port = |name: &str| format!("tx_axis{place}_{name}");
        dut.is(&port("ena")).then(|| Segment {
            data: dut.bytes(&port("tdata")).try_into().unwrap(),
            sop: dut.is(&port("sop")),
            eop: dut.is(&port("eop")),
            err: dut.is(&port("err")),
            mty: dut.get(&port("mty")) as usize,
        })
    })
}

fn segment(sop: bool, eop: bool) -> Option<Segment> {
    Some(Segment {
        data: [7; SEGMENT],
        sop,
        eop,
        err: false,
        mty: 0,
    })
}

const FIRST: (bool, bool) = (true, false);
const MORE: (bool, bool) = (false, false);
const LAST: (bool, bool) = (false, true);

fn cycle(segments: &[(bool, bool)]) -> Option<Cycle> {
    let mut segments = segments.iter().map(|(sop, eop)| segment(*sop, *eop));
    Some(std::array::from_fn(|_| segments.next().flatten()))
}

/// What the last of these cycles breaks. The MAC takes all of them.
fn verdict(cycles: &[Option<Cycle>]) -> Result<bool, Violation> {
    let mut wire = Wire::default();
    let (last, before) = cycles.split_last().unwrap();
    for cycle in before {
        assert_eq!(wire.see(*cycle, true), Ok(cycle.is_some()));
    }
    wire.see(*last, true)
}

#[test]
fn cycles_that_keep_the_rules_pass() {
    let begins = cycle(&[FIRST, MORE, MORE, MORE]);
    let whole = cycle(&[FIRST, MORE, MORE, LAST]);
    assert_eq!(verdict(&[whole, None, whole, whole]), Ok(true));
    assert_eq!(verdict(&[begins, cycle(&[LAST]), None, whole]), Ok(true));
    let both = cycle(&[MORE, LAST, FIRST, MORE]);
    assert_eq!(verdict(&[begins, both, cycle(&[MORE, LAST])]), Ok(true));
}

#[test]
fn cycles_that_break_a_rule_are_found() {
    use Violation::{
        ErrWithoutEop, Gap, Hole, MtyWithoutEop, NoSop, Short, SopInside, TooFewSegments, Unused,
    };
    let begins = cycle(&[FIRST, MORE, MORE, MORE]);
    let mut hole = begins;
    hole.as_mut().unwrap()[2] = None;
    let mut late = cycle(&[FIRST, FIRST, MORE, MORE]);
    late.as_mut().unwrap()[0] = None;
    let mut empty = begins;
    empty.as_mut().unwrap()[1].as_mut().unwrap().mty = 3;
    let mut damaged = begins;
    damaged.as_mut().unwrap()[3].as_mut().unwrap().err = true;
    for (cycles, violation) in [
        (vec![begins, None], Gap),
        (vec![hole], Hole(3)),
        (vec![late], Hole(1)),
        (vec![Some([None; 4])], Unused),
        (vec![begins, cycle(&[MORE, MORE])], Short(2)),
        (vec![cycle(&[FIRST, MORE])], Short(2)),
        (vec![begins, begins], SopInside(0)),
        (vec![begins, cycle(&[LAST, MORE])], NoSop(1)),
        (vec![cycle(&[FIRST, MORE, LAST])], TooFewSegments(3)),
        (vec![empty], MtyWithoutEop(1)),
        (vec![damaged], ErrWithoutEop(3)),
    ] {
        assert_eq!(verdict(&cycles), Err(violation));
    }
    for next in [None, cycle(&[FIRST, MORE, MORE, LAST])] {
        let mut wire = Wire::default();
        assert_eq!(wire.see(begins, false), Ok(false));
        assert_eq!(wire.see(next, true), Err(Violation::Changed));
    }
}
