//! Checks after a run: memory byte by byte, and completions in order.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use stellar_wire::host::WcStatus;

use crate::{CheckError, Nic, World};

/// Longest part that is compared at once, in bytes.
const CHUNK: u64 = 4096;

/// Results of the checks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Bytes compared. The receivers' NICs wrote all of them.
    pub bytes: u64,
    /// Work requests completed with success.
    pub succeeded: u64,
    /// Work requests completed with another status.
    pub failed: u64,
}

/// Checks completions and every byte of memory. These must hold: each queue pair completed its work requests in the order of posting, each once;
/// receivers got immediates in the order of posting, each at most once; messages that succeeded were written completely; every byte that was written belongs to a message and equals the sender's; no access used unmapped
/// memory. Destinations of the WRITEs must not overlap.
///
/// # Errors
/// [`CheckError`] with the first difference.
pub fn verify<N: Nic>(world: &World<N>) -> Result<Verified, CheckError> {
    let statuses = check_order(world)?;
    check_immediates(world)?;
    let mut verified = Verified::default();
    let mut in_messages = vec![0; world.hosts().len()];
    for (wr_id, posted) in world.posted().iter().enumerate() {
        let written = check_bytes(world, wr_id)?;
        in_messages[posted.write.to] += written;
        verified.bytes += written;
        match statuses.get(&(wr_id as u64)) {
            Some(WcStatus::Success) => {
                verified.succeeded += 1;
                if written != u64::from(posted.write.length) {
                    return Err(CheckError::Missing {
                        wr_id: wr_id as u64,
                        written,
                        length: posted.write.length.into(),
                    });
                }
            }
            Some(_) => verified.failed += 1,
            None => {}
        }
    }
    for (host, expected) in world.hosts().iter().zip(in_messages) {
        let memory = host.nic().memory();
        if memory.written() != expected {
            return Err(CheckError::Stray {
                host: host.name().into(),
                written: memory.written(),
                expected,
            });
        }
        if let Some(access) = memory.bad_accesses().first() {
            return Err(CheckError::Unmapped {
                host: host.name().into(),
                count: memory.bad_accesses().len(),
                address: access.address,
            });
        }
    }
    Ok(verified)
}

/// Status by work request, if the completions of every queue pair came in posting order.
fn check_order<N: Nic>(world: &World<N>) -> Result<BTreeMap<u64, WcStatus>, CheckError> {
    let mut due: BTreeMap<(usize, u32), Vec<u64>> = BTreeMap::new();
    for (wr_id, posted) in world.posted().iter().enumerate() {
        let queue = due.entry((posted.write.from, posted.write.qp)).or_default();
        queue.push(wr_id as u64);
    }
    let mut statuses = BTreeMap::new();
    for (index, host) in world.hosts().iter().enumerate() {
        let mut next: BTreeMap<u32, usize> = BTreeMap::new();
        let sent = host.completions().iter().map(|completed| &completed.cqe);
        for cqe in sent.filter(|cqe| !cqe.opcode.is_receive()) {
            let position = next.entry(cqe.qp).or_insert(0);
            let expected = due.get(&(index, cqe.qp)).and_then(|due| due.get(*position));
            if expected != Some(&cqe.wr_id) {
                return Err(CheckError::Order {
                    qp: cqe.qp,
                    found: cqe.wr_id,
                    expected: expected.map_or("nothing".into(), u64::to_string),
                });
            }
            *position += 1;
            statuses.insert(cqe.wr_id, cqe.status);
        }
    }
    Ok(statuses)
}

/// Checks that the completions of received immediates of every queue pair came in posting order. Both ends of a connection have the same number.
fn check_immediates<N: Nic>(world: &World<N>) -> Result<(), CheckError> {
    let mut due: BTreeMap<(usize, u32), VecDeque<u32>> = BTreeMap::new();
    for posted in world.posted() {
        let queue = due.entry((posted.write.to, posted.write.qp)).or_default();
        queue.extend(posted.write.immediate);
    }
    for (index, host) in world.hosts().iter().enumerate() {
        let received = host.completions().iter().map(|completed| &completed.cqe);
        for cqe in received.filter(|cqe| cqe.opcode.is_receive() && cqe.status == WcStatus::Success)
        {
            let queue = due.get_mut(&(index, cqe.qp));
            let expected = queue.and_then(VecDeque::pop_front);
            if expected != Some(cqe.immediate) {
                return Err(CheckError::Immediate {
                    qp: cqe.qp,
                    found: cqe.immediate,
                    expected: expected
                        .map_or("nothing".into(), |immediate| format!("{immediate:#x}")),
                });
            }
        }
    }
    Ok(())
}

/// Compares the written part of a message with its source; returns its length.
fn check_bytes<N: Nic>(world: &World<N>, wr_id: usize) -> Result<u64, CheckError> {
    let write = world.posted()[wr_id].write;
    let (sender, receiver) = (world.host(write.from), world.host(write.to));
    let source = sender.region(write.local.0);
    let target = receiver.region(write.remote.0);
    let (mut expected, mut found) = ([0; CHUNK as usize], [0; CHUNK as usize]);
    let (mut offset, mut total) = (0, 0);
    while offset < u64::from(write.length) {
        let (from, from_left) = source.locate(write.local.1 + offset);
        let (to, to_left) = target.locate(write.remote.1 + offset);
        let rest = u64::from(write.length) - offset;
        // Parts end at page boundaries of the storage, so that untouched pages are skipped quickly.
        let count = rest.min(from_left).min(to_left).min(CHUNK - to % CHUNK);
        let memory = receiver.nic().memory();
        let written = memory.written_in(target.owner, to, count);
        if written > 0 {
            let (expected, found) = (
                &mut expected[..count as usize],
                &mut found[..count as usize],
            );
            sender.nic().memory().load(source.owner, from, expected);
            memory.load(target.owner, to, found);
            let differs = |at: &usize| {
                expected[*at] != found[*at]
                    && memory.written_in(target.owner, to + *at as u64, 1) == 1
            };
            if let Some(at) = (0..count as usize).find(differs) {
                return Err(CheckError::Content {
                    wr_id: wr_id as u64,
                    offset: offset + at as u64,
                    found: found[at],
                    expected: expected[at],
                });
            }
            total += written;
        }
        offset += count;
    }
    Ok(total)
}
