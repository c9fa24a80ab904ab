//! Flowlets: runs of packets of a flow with a gap behind them that is longer than paths differ.

use std::collections::HashMap;

use super::{Choice, Choose, Dice};
use crate::{ChannelId, SwitchId, Time};

/// The last packet of each flow at each switch. It has an entry for each flow, so flows share none: a switch has a table of fixed size, where they may.
pub(super) struct Flowlets {
    gap: Time,
    table: HashMap<(SwitchId, u64), (Time, ChannelId)>,
}

impl Flowlets {
    pub(super) fn new(gap: Time) -> Self {
        Self {
            gap,
            table: HashMap::new(),
        }
    }

    /// Output of the flowlet that a packet belongs to, if it goes on and its output is still there.
    pub(super) fn current(&self, choice: &Choice<'_>) -> Option<ChannelId> {
        let &(time, out) = self.table.get(&(choice.at, choice.flow))?;
        let goes_on = choice.now - time <= self.gap;
        (goes_on && choice.group.contains(&out)).then_some(out)
    }

    /// Output of the flow's last packet, however long ago.
    pub(super) fn last(&self, choice: &Choice<'_>) -> Option<ChannelId> {
        let &(_, out) = self.table.get(&(choice.at, choice.flow))?;
        choice.group.contains(&out).then_some(out)
    }

    /// Notes the output of a packet.
    pub(super) fn note(&mut self, choice: &Choice<'_>, out: ChannelId) {
        self.table
            .insert((choice.at, choice.flow), (choice.now, out));
    }
}

/// LetFlow: each flowlet takes a random output (Vanini et al., NSDI 2017, section 3). Flowlets on slow paths end sooner, because their packets are
/// acknowledged later, and so loads follow rates without any measurement.
pub(super) struct LetFlow {
    flowlets: Flowlets,
    dice: Dice,
}

impl LetFlow {
    pub(super) fn new(gap: Time, dice: Dice) -> Self {
        Self {
            flowlets: Flowlets::new(gap),
            dice,
        }
    }
}

impl Choose for LetFlow {
    fn choose(&mut self, choice: &Choice<'_>) -> ChannelId {
        let out = self.flowlets.current(choice).unwrap_or_else(|| {
            let drawn = self.dice.draw(choice.at, choice.group.len());
            choice.group[drawn]
        });
        self.flowlets.note(choice, out);
        out
    }
}
