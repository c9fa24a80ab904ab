//! A congestion window for each path (STELLAR, section 9, as what its card does not have; the rules are ours).

use stellar_transport::congestion::{AckSample, Nscc, NsccParams};
use stellar_transport::rx::Psn;
use stellar_transport::spray::{EvIndex, Feedback, PathAck, PathPolicy, Paths};
use stellar_transport::time::Ticks;

use super::outstanding::{path, Packet};
use super::round_trips::slots;
use super::{Outstanding, SLOTS};

/// The window of a path, and the bytes on it.
#[derive(Clone, Debug)]
struct Context {
    nscc: Nscc,
    in_flight: u32,
}

/// Every path has the congestion control of a queue pair, with its part of the rate. New packets take the paths that have room in the oblivious order.
#[derive(Clone, Debug)]
pub(super) struct PerPath {
    mtu: u32,
    planes: [Vec<Context>; 2],
    outstanding: Outstanding,
}

impl PerPath {
    /// Windows of paths with these registers.
    pub fn new(nscc: &NsccParams, mtu: u32) -> Self {
        let context = Context {
            nscc: Nscc::new(nscc, Ticks(0)),
            in_flight: 0,
        };
        let plane = vec![context; SLOTS];
        Self {
            mtu,
            planes: [plane.clone(), plane],
            outstanding: Outstanding::default(),
        }
    }

    fn context(&mut self, (plane, slot): (u8, u8)) -> &mut Context {
        &mut self.planes[usize::from(plane)][usize::from(slot)]
    }

    /// A packet is not on its path any more.
    fn leave(&mut self, packet: Packet) {
        self.context(packet.path).in_flight -= u32::from(packet.length);
    }
}

impl PathPolicy for PerPath {
    fn with_room(&self, plane: u8, candidates: u64) -> u64 {
        let contexts = &self.planes[usize::from(plane)];
        slots(candidates)
            .filter(|&slot| {
                let Context { nscc, in_flight } = &contexts[usize::from(slot)];
                nscc.may_send(*in_flight, self.mtu)
            })
            .fold(0, |map, slot| map | 1 << slot)
    }

    fn on_sent(&mut self, paths: &Paths, psn: Psn, index: EvIndex, length: u16) {
        if let Some(path) = path(paths, index) {
            self.context(path).in_flight += u32::from(length);
            if let Some(before) = self.outstanding.sent(psn, Packet { path, length }) {
                self.leave(before);
            }
        }
    }

    fn window(&self) -> Option<u32> {
        // Those of the paths are the bound.
        Some(u32::MAX)
    }

    fn on_ack(&mut self, paths: &mut Paths, index: Option<EvIndex>, ack: &PathAck, now: Ticks) {
        let reflected = index.and_then(|index| path(paths, index));
        if let Some(path) = reflected {
            let arrived = self.outstanding.arrived(path);
            if let Some((_, packet)) = arrived {
                self.leave(packet);
            }
            let context = self.context(path);
            context.nscc.on_ack(
                AckSample {
                    acked_bytes: arrived.map_or(0, |(_, packet)| packet.length.into()),
                    rtt: ack.sampled.then_some(Ticks(ack.round_trip.into())),
                    ecn: ack.hint != Feedback::Good,
                    in_flight: context.in_flight,
                },
                now,
            );
        }
        // Their SACKs were lost.
        while let Some(packet) = self.outstanding.passed(ack.una) {
            self.leave(packet);
        }
    }

    fn on_feedback(&mut self, paths: &mut Paths, index: EvIndex, feedback: Feedback, _: Ticks) {
        let is_lost = matches!(feedback, Feedback::Timeout | Feedback::Trimmed);
        if let Some(path) = path(paths, index).filter(|_| is_lost) {
            let length = self.outstanding.oldest(path).unwrap_or(0);
            self.context(path).nscc.on_loss(length.into());
        }
    }

    fn copy(&self) -> Box<dyn PathPolicy> {
        Box::new(self.clone())
    }
}
