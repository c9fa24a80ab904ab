//! The event queue of a simulation: a calendar of the near future, and a heap for the rest.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use crate::Time;

/// Buckets of the calendar. Few enough that their memory stays in the cache: eight times as many made a fabric of a thousand hosts a third slower.
const BUCKETS: u64 = 512;
/// A bucket holds 2^12 ps, about 4 ns, so the calendar holds about 2 us.
const BUCKET_BITS: u32 = 12;
/// Parts of a bucket: one for each bit of a word.
const PARTS: usize = u64::BITS as usize;
/// Bits of a word of the map of occupied buckets.
const WORD: u64 = 64;

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    time: Time,
    event: E,
}

/// An entry in its bucket, whose start says the rest of its time. The calendar's memory is what a large fabric touches most.
#[derive(Clone, Copy, Debug)]
struct Slot<E> {
    /// Picoseconds from the start of the bucket.
    offset: u32,
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
    buckets: Box<[Vec<Slot<E>>; BUCKETS as usize]>,
    occupied: [u64; (BUCKETS / WORD) as usize],
    /// The bucket whose turn it is.
    current: u64,
    /// Everything up to bucket `current`, with what was taken already, in order.
    ready: Vec<Entry<E>>,
    /// Entries of `ready` that were taken.
    taken: usize,
    far: BinaryHeap<Far<E>>,
    pushed: u64,
}

impl<E: Copy> Default for Calendar<E> {
    fn default() -> Self {
        Self {
            buckets: Box::new([const { Vec::new() }; BUCKETS as usize]),
            occupied: [0; (BUCKETS / WORD) as usize],
            current: 0,
            ready: Vec::new(),
            taken: 0,
            far: BinaryHeap::new(),
            pushed: 0,
        }
    }
}

impl<E: Copy> Calendar<E> {
    /// Adds an event.
    #[inline(always)]
    pub fn push(&mut self, time: Time, event: E) {
        // What is not ahead wraps around to a great number.
        let ahead = bucket_of(time).wrapping_sub(self.current + 1);
        if ahead < BUCKETS - 1 {
            self.put(time, event);
        } else {
            self.push_elsewhere(Entry { time, event });
        }
    }

    /// Adds an event that belongs to the present bucket or before it, or beyond the calendar.
    #[cold]
    fn push_elsewhere(&mut self, entry: Entry<E>) {
        if bucket_of(entry.time) <= self.current {
            let rest = &self.ready[self.taken..];
            let later = rest.partition_point(|other| other.time <= entry.time);
            self.ready.insert(self.taken + later, entry);
        } else {
            let number = self.pushed;
            self.pushed += 1;
            self.far.push(Far { entry, number });
        }
    }

    /// Time of the first event.
    pub fn next_time(&self) -> Option<Time> {
        if let Some(entry) = self.ready.get(self.taken) {
            return Some(entry.time);
        }
        match self.next_bucket() {
            Some(bucket) => {
                let slots = &self.buckets[place(bucket)];
                let first = slots.iter().map(|slot| slot.offset).min();
                first.map(|offset| start_of(bucket) + Time::from(offset))
            }
            None => self.far.peek().map(|far| far.entry.time),
        }
    }

    /// Takes the first event if its time has come by `limit`.
    #[inline(always)]
    pub fn pop_until(&mut self, limit: Time) -> Option<(Time, E)> {
        if self.taken == self.ready.len() && !self.turn_by(limit) {
            return None;
        }
        let &Entry { time, event } = self.ready.get(self.taken)?;
        if time > limit {
            return None;
        }
        self.taken += 1;
        Some((time, event))
    }

    /// The next `count` events of the present bucket, or fewer if it has no more, in order. Others may be pushed before them.
    pub fn next_events(&self, count: usize) -> impl Iterator<Item = &E> {
        let end = self.ready.len().min(self.taken + count);
        self.ready[self.taken..end].iter().map(|entry| &entry.event)
    }

    /// Events of the present bucket that were taken.
    #[inline]
    pub const fn taken(&self) -> usize {
        self.taken
    }

    /// Gives the next bucket with events its turn, if `limit` is not before it. Later buckets keep their turn, because events may still be pushed before them.
    #[inline(never)]
    fn turn_by(&mut self, limit: Time) -> bool {
        let far = || self.far.peek().map(|far| bucket_of(far.entry.time));
        let next = self.next_bucket().or_else(far);
        let next = next.filter(|&next| next <= bucket_of(limit));
        if let Some(bucket) = next {
            self.turn_to(bucket);
        }
        next.is_some()
    }

    /// Gives `bucket`, the next one with events, its turn.
    fn turn_to(&mut self, bucket: u64) {
        self.current = bucket;
        while let Some(far) = self.far.peek() {
            if bucket_of(far.entry.time) >= bucket + BUCKETS {
                break;
            }
            let far = self.far.pop().expect("the entry just seen");
            self.put(far.entry.time, far.entry.event);
        }
        self.arrange(bucket);
        let at = place(bucket);
        self.buckets[at].clear();
        self.occupied[at / WORD as usize] &= !(1 << (at as u64 % WORD));
    }

    /// Fills `ready` with the entries of a bucket in the order of times, and among equal times in that of the pushes. They are dealt to the parts of the bucket, in
    /// which there are few, mostly of one time.
    fn arrange(&mut self, bucket: u64) {
        let slots = &self.buckets[place(bucket)];
        self.taken = 0;
        self.ready.clear();
        let Some(&Slot { event, .. }) = slots.first() else {
            return;
        };
        let mut ends = [0; PARTS];
        let mut present = 0_u64;
        for slot in slots {
            ends[part_of(slot.offset)] += 1;
            present |= 1 << part_of(slot.offset);
        }
        // Where the parts begin; dealing an entry to a part moves that on.
        let mut next = 0;
        for part in ones(present) {
            let count = ends[part];
            ends[part] = next;
            next += count;
        }
        let time = start_of(bucket);
        self.ready.resize(slots.len(), Entry { time, event });
        for slot in slots {
            let end = &mut ends[part_of(slot.offset)];
            self.ready[*end] = Entry {
                time: time + Time::from(slot.offset),
                event: slot.event,
            };
            *end += 1;
        }
        let mut begin = 0;
        for part in ones(present) {
            let part = &mut self.ready[begin..ends[part]];
            begin += part.len();
            if part.len() > 1 {
                part.sort_by_key(|entry| entry.time);
            }
        }
    }

    /// Puts an event into its bucket.
    #[inline]
    fn put(&mut self, time: Time, event: E) {
        let at = place(bucket_of(time));
        let offset = (time % (1 << BUCKET_BITS)) as u32;
        self.buckets[at].push(Slot { offset, event });
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

/// The part of its bucket in which a time lies.
const fn part_of(offset: u32) -> usize {
    (offset >> (BUCKET_BITS - PARTS.ilog2())) as usize % PARTS
}

/// The numbers of the bits of a word that are set, in ascending order.
fn ones(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (word != 0).then(|| word.trailing_zeros() as usize)?;
        word &= word - 1;
        Some(first)
    })
}

const fn bucket_of(time: Time) -> u64 {
    time >> BUCKET_BITS
}

/// The first picosecond of a bucket.
const fn start_of(bucket: u64) -> Time {
    bucket << BUCKET_BITS
}

/// Number of a bucket.
const fn place(bucket: u64) -> usize {
    (bucket % BUCKETS) as usize
}
