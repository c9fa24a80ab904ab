//! The event queue of a simulation: a calendar of the near future, and a heap for the rest.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::Time;

/// Buckets of the calendar. Few enough that their memory stays in the cache: eight times as many made a fabric of a thousand hosts a third slower.
const BUCKETS: u64 = 512;
/// A bucket holds 2^12 ps, about 4 ns, so the calendar holds about 2 us.
const BUCKET_BITS: u32 = 12;
/// Bits of an index beside the time within a bucket in a word of 32 bits.
const INDEX_BITS: u32 = u32::BITS - BUCKET_BITS;
/// Bits of a word of the map of occupied buckets.
const WORD: u64 = 64;

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    time: Time,
    event: E,
}

/// An entry beyond the calendar, with the number of its push.
#[derive(Clone, Copy, Debug)]
struct Far<E> {
    entry: Entry<E>,
    number: u64,
}

impl<E> Far<E> {
    fn key(&self) -> (Time, u64) {
        (self.entry.time, self.number)
    }
}

/// The greatest entry of a heap is the earliest one.
impl<E> Ord for Far<E> {
    fn cmp(&self, other: &Self) -> Ordering {
        other.key().cmp(&self.key())
    }
}

impl<E> PartialOrd for Far<E> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> PartialEq for Far<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl<E> Eq for Far<E> {}

/// Events by time, and among equal times by the order in which they were pushed: the order of a binary heap over (time, number of the push).
///
/// Most events of a fabric are less than two microseconds away. They go into the bucket of their time in the order of the pushes, which needs no
/// comparison. A bucket is sorted by time, in a stable way, when its turn comes. Events that are further away wait in a heap. They move to their
/// bucket as soon as the calendar reaches it, so before any event that is pushed there later.
#[derive(Clone, Debug)]
pub struct Calendar<E> {
    /// Bucket `n`, counted from time 0, is number `n % BUCKETS`. Those of `current + 1` up to `current + BUCKETS - 1` are in use.
    buckets: Vec<Vec<Entry<E>>>,
    occupied: [u64; (BUCKETS / WORD) as usize],
    /// The bucket whose turn it is.
    current: u64,
    /// Everything up to bucket `current`, with what was taken already, in the order in which it came here.
    ready: Vec<Entry<E>>,
    /// The order of `ready`: indices of its entries, by time.
    order: Vec<u32>,
    /// Indices of `order` whose entries were taken.
    taken: usize,
    far: BinaryHeap<Far<E>>,
    pushed: u64,
}

impl<E: Copy> Default for Calendar<E> {
    fn default() -> Self {
        Self {
            buckets: vec![Vec::new(); BUCKETS as usize],
            occupied: [0; (BUCKETS / WORD) as usize],
            current: 0,
            ready: Vec::new(),
            order: Vec::new(),
            taken: 0,
            far: BinaryHeap::new(),
            pushed: 0,
        }
    }
}

impl<E: Copy> Calendar<E> {
    /// Adds an event.
    #[inline]
    pub fn push(&mut self, time: Time, event: E) {
        let entry = Entry { time, event };
        let bucket = bucket_of(time);
        if bucket <= self.current {
            let rest = &self.order[self.taken..];
            let later = rest.partition_point(|&at| self.ready[at as usize].time <= time);
            let index = self.ready.len() as u32;
            self.order.insert(self.taken + later, index);
            self.ready.push(entry);
        } else if bucket < self.current + BUCKETS {
            self.put(bucket, entry);
        } else {
            let number = self.pushed;
            self.pushed += 1;
            self.far.push(Far { entry, number });
        }
    }

    /// Time of the first event.
    pub fn next_time(&self) -> Option<Time> {
        if let Some(entry) = self.coming(0) {
            return Some(entry.time);
        }
        match self.next_bucket() {
            Some(bucket) => {
                let bucket = &self.buckets[slot(bucket)];
                bucket.iter().map(|entry| entry.time).min()
            }
            None => self.far.peek().map(|far| far.entry.time),
        }
    }

    /// Takes the first event if its time has come by `limit`.
    pub fn pop_until(&mut self, limit: Time) -> Option<(Time, E)> {
        loop {
            if let Some(&Entry { time, event }) = self.coming(0) {
                if time > limit {
                    return None;
                }
                self.taken += 1;
                return Some((time, event));
            }
            let far = || self.far.peek().map(|far| bucket_of(far.entry.time));
            let next = self.next_bucket().or_else(far)?;
            // Later buckets keep their turn, because events may still be pushed before them.
            if next > bucket_of(limit) {
                return None;
            }
            self.turn_to(next);
        }
    }

    /// The entry of the present bucket that is taken after `ahead` others.
    #[inline]
    fn coming(&self, ahead: usize) -> Option<&Entry<E>> {
        let at = *self.order.get(self.taken + ahead)?;
        Some(&self.ready[at as usize])
    }

    /// The next `count` events of the present bucket, or fewer if it has no more, in order. Others may be pushed before them.
    pub fn next_events(&self, count: usize) -> impl Iterator<Item = &E> {
        let end = self.order.len().min(self.taken + count);
        let next = &self.order[self.taken..end];
        next.iter().map(|&at| &self.ready[at as usize].event)
    }

    /// Events of the present bucket that were taken.
    pub const fn taken(&self) -> usize {
        self.taken
    }

    /// Gives `bucket`, the next one with events, its turn.
    fn turn_to(&mut self, bucket: u64) {
        self.current = bucket;
        self.ready.clear();
        self.taken = 0;
        let at = slot(bucket);
        std::mem::swap(&mut self.ready, &mut self.buckets[at]);
        self.occupied[at / WORD as usize] &= !(1 << (at as u64 % WORD));
        while let Some(far) = self.far.peek() {
            let of = bucket_of(far.entry.time);
            if of >= bucket + BUCKETS {
                break;
            }
            let far = self.far.pop().expect("the entry just seen");
            if of == bucket {
                self.ready.push(far.entry);
            } else {
                self.put(of, far.entry);
            }
        }
        self.sort();
    }

    /// Puts `order` into the order of times, and among equal times of the entries' indices. Words are sorted that have both, because entries are six
    /// times as long.
    fn sort(&mut self) {
        self.order.clear();
        let keys = (0..).zip(&self.ready);
        if self.ready.len() < 1 << INDEX_BITS {
            let key = |(index, entry): (u32, &Entry<E>)| (entry.time as u32) << INDEX_BITS | index;
            self.order.extend(keys.map(key));
            self.order.sort_unstable();
            for word in &mut self.order {
                *word &= (1 << INDEX_BITS) - 1;
            }
        } else {
            self.order.extend(keys.map(|(index, _)| index));
            let ready = &self.ready;
            self.order.sort_by_key(|&at| ready[at as usize].time);
        }
    }

    #[inline]
    fn put(&mut self, bucket: u64, entry: Entry<E>) {
        let at = slot(bucket);
        self.buckets[at].push(entry);
        self.occupied[at / WORD as usize] |= 1 << (at as u64 % WORD);
    }

    /// The first bucket behind the current one that has events.
    fn next_bucket(&self) -> Option<u64> {
        let first = self.current + 1;
        let start = first % BUCKETS;
        let words = BUCKETS / WORD;
        // The word of `start` comes first without its low bits, and last with them alone.
        for step in 0..=words {
            let index = (start / WORD + step) % words;
            let mut word = self.occupied[index as usize];
            if step == 0 {
                word &= u64::MAX << (start % WORD);
            }
            if word != 0 {
                let at = index * WORD + u64::from(word.trailing_zeros());
                return Some(first + (at + BUCKETS - start) % BUCKETS);
            }
        }
        None
    }
}

const fn bucket_of(time: Time) -> u64 {
    time >> BUCKET_BITS
}

const fn slot(bucket: u64) -> usize {
    (bucket % BUCKETS) as usize
}
