//! Address vectors of the card: one for each host that queue pairs are connected to.

use std::collections::BTreeMap;

use stellar_wire::config::QpConfig;
use stellar_wire::rows::{ConfigSelect, Row, VECTOR_BITS};

use crate::card::Card;
use crate::error::Error;
use crate::numbers::Numbers;

/// Address vectors of a card.
pub const VECTORS: u32 = 1 << VECTOR_BITS;

/// The rows of an address vector at each port, packed.
type Way = Vec<Vec<u32>>;

/// Which address vectors are in use. Queue pairs with the same way to their peers share one.
pub struct AddressVectors {
    free: Numbers,
    /// Numbers by way.
    numbers: BTreeMap<Way, u16>,
    /// What is in use, by number: the way, and how many queue pairs have it.
    used: BTreeMap<u16, (Way, u32)>,
}

impl AddressVectors {
    /// The vectors of a card that has so many.
    pub const fn new(count: u32) -> Self {
        Self {
            free: Numbers::new("address vectors", 0, count),
            numbers: BTreeMap::new(),
            used: BTreeMap::new(),
        }
    }

    /// The number of the way from this many ports to the peer of `config`. The card has its rows when this returns.
    ///
    /// # Errors
    /// [`Error::Exhausted`] if the way is new and every vector is in use, or [`Error::Device`]. Nothing is taken then.
    pub fn take(&mut self, card: &Card, ports: u8, config: &QpConfig) -> Result<u16, Error> {
        let rows: Vec<_> = (0..ports.into()).map(|p| config.address_row(p)).collect();
        let way: Way = rows.iter().map(Row::pack).collect();
        if let Some(&number) = self.numbers.get(&way) {
            self.used.entry(number).and_modify(|(_, users)| *users += 1);
            return Ok(number);
        }
        let number = self.free.take()?;
        let tables = [ConfigSelect::Address0, ConfigSelect::Address1];
        let mut rows = tables.into_iter().zip(&rows);
        if let Err(error) = rows.try_for_each(|(table, row)| card.write_row(table, number, row)) {
            self.free.give_back(number);
            return Err(error.into());
        }
        let number = number as u16;
        self.numbers.insert(way.clone(), number);
        self.used.insert(number, (way, 1));
        Ok(number)
    }

    /// A queue pair that had this vector is gone from the card, and nothing is under way that uses it.
    pub fn give_back(&mut self, number: u16) {
        let Some((way, users)) = self.used.get_mut(&number) else {
            return;
        };
        *users -= 1;
        if *users == 0 {
            self.numbers.remove(way);
            self.used.remove(&number);
            self.free.give_back(number.into());
        }
    }
}
