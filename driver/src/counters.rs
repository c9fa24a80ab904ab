//! The counters of a card.

use std::sync::Arc;

use stellar_wire::host::{CardCounter, PortCounter, QpCounter, QpCounterSelect, QpCounters};
use stellar_wire::receive::DropReason;

use crate::card::Card;
use crate::device::DeviceError;
use crate::error::Error;
use crate::open::Device;
use crate::probe::Probe;

/// A counter of received packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counter {
    /// Fate of the packets; `None` counts those that were accepted.
    pub reason: DropReason,
    /// Packets since the last reset.
    pub value: u64,
}

/// A counter of a port and the PCIe endpoint beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortCount {
    /// 0 or 1.
    pub port: u8,
    /// What was counted.
    pub counter: PortCounter,
    /// Events since the last reset.
    pub value: u64,
}

/// A counter that the card has once: of its queues in host memory, doorbells, and acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CardCount {
    /// What was counted.
    pub counter: CardCounter,
    /// Events since the last reset.
    pub value: u64,
}

impl Probe {
    /// The counters of received packets since the last reset, accepted ones first. The card is not reset.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn counters(&self) -> Result<Vec<Counter>, Error> {
        Ok(all_counters(&Card::new(Arc::clone(self.function())))?)
    }

    /// The counters of the ports since the last reset, those of port 0 first. The card is not reset.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn port_counters(&self) -> Result<Vec<PortCount>, Error> {
        let card = Card::new(Arc::clone(self.function()));
        Ok(all_port_counters(&card, self.features.ports)?)
    }

    /// The counters of queues, doorbells and acknowledgements since the last reset. The card is not reset.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn card_counters(&self) -> Result<Vec<CardCount>, Error> {
        Ok(all_card_counters(&Card::new(Arc::clone(self.function())))?)
    }

    /// The counters of a queue pair since it was configured. The card is not reset.
    ///
    /// # Errors
    /// [`Error::NoQueuePair`] for a number that the card does not have, [`Error::NotCounted`] for one without counters, [`Error::Device`].
    pub fn qp_counters(&self, qp: u32) -> Result<QpCounters, Error> {
        let queue_pairs = 1 << self.features.log2_queue_pairs;
        if qp >= queue_pairs {
            return Err(Error::NoQueuePair { qp, queue_pairs });
        }
        self.check_counted(qp)?;
        Ok(Card::new(Arc::clone(self.function())).qp_counters(qp)?)
    }

    /// Refuses a queue pair for which the card keeps no counters.
    pub(crate) fn check_counted(&self, qp: u32) -> Result<(), Error> {
        let counted = self.counted_queue_pairs();
        if qp < counted {
            Ok(())
        } else {
            Err(Error::NotCounted { qp, counted })
        }
    }

    /// Number of queue pairs, from 0 on, that have counters.
    fn counted_queue_pairs(&self) -> u32 {
        self.data_path
            .counted_queue_pairs(self.features.log2_queue_pairs)
    }

    /// The counters of every queue pair that has sent or received a data packet since it was configured, by number. The card is not reset.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn active_qp_counters(&self) -> Result<Vec<(u32, QpCounters)>, Error> {
        let card = Card::new(Arc::clone(self.function()));
        let mut active = Vec::new();
        for qp in 0..self.counted_queue_pairs() {
            let moved = |counter| card.qp_counter(QpCounterSelect { qp, counter });
            if moved(QpCounter::PacketsSent)? > 0 || moved(QpCounter::PacketsReceived)? > 0 {
                active.push((qp, card.qp_counters(qp)?));
            }
        }
        Ok(active)
    }
}

impl Device {
    /// The counters of received packets that are not zero, accepted ones first.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn counters(&self) -> Result<Vec<Counter>, Error> {
        let mut counters = all_counters(&self.0.card)?;
        counters.retain(|counter| counter.value > 0);
        Ok(counters)
    }

    /// The counters of the ports that are not zero, those of port 0 first.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn port_counters(&self) -> Result<Vec<PortCount>, Error> {
        let mut counters = all_port_counters(&self.0.card, self.probe().features.ports)?;
        counters.retain(|counter| counter.value > 0);
        Ok(counters)
    }

    /// The counters of queues, doorbells and acknowledgements that are not zero.
    ///
    /// # Errors
    /// [`Error::Device`].
    pub fn card_counters(&self) -> Result<Vec<CardCount>, Error> {
        let mut counters = all_card_counters(&self.0.card)?;
        counters.retain(|counter| counter.value > 0);
        Ok(counters)
    }
}

fn all_counters(card: &Card) -> Result<Vec<Counter>, DeviceError> {
    let read = |reason: DropReason| {
        let value = card.counter(reason.index())?;
        Ok(Counter { reason, value })
    };
    DropReason::ALL.into_iter().map(read).collect()
}

fn all_port_counters(card: &Card, ports: u8) -> Result<Vec<PortCount>, DeviceError> {
    let ports = 0..ports;
    let each = ports.flat_map(|port| PortCounter::ALL.map(|counter| (port, counter)));
    let read = |(port, counter): (u8, PortCounter)| {
        let value = card.counter(counter.select(port))?;
        Ok(PortCount {
            port,
            counter,
            value,
        })
    };
    each.map(read).collect()
}

fn all_card_counters(card: &Card) -> Result<Vec<CardCount>, DeviceError> {
    let read = |counter: CardCounter| {
        let value = card.counter(counter.select())?;
        Ok(CardCount { counter, value })
    };
    CardCounter::ALL.into_iter().map(read).collect()
}
