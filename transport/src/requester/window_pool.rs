//! Pool of blocks that the transmit windows of an engine share (hardware block `tx_window`).

use std::collections::VecDeque;

use stellar_wire::config::WINDOW_BLOCK as BLOCK;

use super::window::Window;
use crate::rx::Psn;

/// Blocks of 32 packets that the transmit windows of many queue pairs share. A queue pair takes a block when its window enters it, and gives it back when
/// `una` leaves it or the window becomes empty.
///
/// **Share.** A queue pair that holds no block may take one as long as one is free. One that holds some may take another one only while it holds fewer than
/// are free. So `n` queue pairs that take whatever they get have `1 / (n + 1)` of the pool each, and as much is free for one that begins.
#[derive(Clone, Debug)]
pub struct WindowPool {
    free: u32,
    /// Queue pairs without a block that found none, in the order in which they came.
    waiting: VecDeque<u32>,
}

impl WindowPool {
    /// Blocks of an engine of the card: 16,384 packets.
    pub const BLOCKS: u32 = 512;

    /// A pool of which every block is free.
    pub const fn new(blocks: u32) -> Self {
        Self {
            free: blocks,
            waiting: VecDeque::new(),
        }
    }

    /// Blocks that no window holds.
    pub const fn free(&self) -> u32 {
        self.free
    }

    /// Whether a queue pair that holds `held` blocks may take another one, of `free`.
    const fn admits(held: u32, free: u32) -> bool {
        if held == 0 {
            free > 0
        } else {
            held < free
        }
    }

    /// Packets that may be added to a window now, at most [`BLOCK`]: those for which its last block has space, and those of blocks that it may take.
    pub fn room(&self, window: &Window) -> u32 {
        let (mut held, mut free) = (window.blocks(), self.free);
        let mut room = if held > 0 {
            window.next().value().wrapping_neg() % BLOCK
        } else {
            0
        };
        while room < BLOCK && Self::admits(held, free) {
            room += BLOCK - window.next().plus(room).value() % BLOCK;
            (held, free) = (held + 1, free - 1);
        }
        room.min(BLOCK)
    }

    /// A window that held `before` blocks holds `after` now.
    ///
    /// # Panics
    /// If it took more than were free: the caller asks for [`Self::room`] first.
    pub fn changed(&mut self, before: u32, after: u32) {
        let free = (self.free + before).checked_sub(after);
        self.free = free.expect("blocks of the pool");
    }

    /// A queue pair whose window is empty has something to send, and no block is free. It waits, if it does not wait yet.
    pub fn wait(&mut self, qp: u32) {
        if !self.is_waiting(qp) {
            self.waiting.push_back(qp);
        }
    }

    /// Whether a queue pair waits.
    pub fn is_waiting(&self, qp: u32) -> bool {
        self.waiting.contains(&qp)
    }

    /// Takes the queue pair that has waited longest, if a block is free.
    ///
    /// Queue pairs that hold blocks never wait here: the acknowledgements and timers of their packets schedule them.
    pub fn wake(&mut self) -> Option<u32> {
        if self.free == 0 {
            return None;
        }
        self.waiting.pop_front()
    }
}

impl Default for WindowPool {
    fn default() -> Self {
        Self::new(Self::BLOCKS)
    }
}

/// Number of blocks that PSNs `una` to `next - 1` touch.
pub(super) fn blocks_between(una: Psn, next: Psn) -> u32 {
    let packets = next.distance_from(una);
    if packets == 0 {
        return 0;
    }
    (una.value() % BLOCK + packets).div_ceil(BLOCK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::requester::Sent;
    use crate::spray::EvIndex;
    use crate::time::Ticks;

    fn packet() -> Sent {
        Sent {
            ev: EvIndex::new(0).expect("a path"),
            plane: 0,
            at: Ticks(0),
            departed: Ticks(0),
            again: false,
            retries: 0,
            length: 1,
            slot: 0,
        }
    }

    /// Adds as many packets as there is room for, burst by burst. Returns their number.
    fn fill(window: &mut Window, pool: &mut WindowPool) -> u32 {
        let mut added = 0;
        loop {
            let room = pool.room(window).min(super::super::SLOTS - window.len());
            if room == 0 {
                return added;
            }
            for _ in 0..room {
                window.push(packet(), pool);
            }
            added += room;
        }
    }

    #[test]
    fn those_that_take_everything_have_equal_shares_and_leave_as_much() {
        for hogs in [1_u32, 2, 3, 7, 40] {
            let mut pool = WindowPool::new(300);
            let mut windows: Vec<_> = (0..hogs).map(|i| Window::new(Psn::new(i * 7))).collect();
            // In turns of one burst.
            loop {
                let mut added = 0;
                for window in &mut windows {
                    let room = pool.room(window).min(super::super::SLOTS - window.len());
                    for _ in 0..room {
                        window.push(packet(), &mut pool);
                    }
                    added += room;
                }
                if added == 0 {
                    break;
                }
            }
            let held: Vec<u32> = windows.iter().map(Window::blocks).collect();
            let share = 300 / (hogs + 1);
            // A window has 4,096 packets, so 129 blocks, at most.
            let least = share.min(128);
            assert!(
                held.iter().all(|&n| n >= least && n <= share + 1),
                "{held:?}"
            );
            assert!(pool.free() >= share - 1, "{} free", pool.free());
            assert_eq!(pool.free() + held.iter().sum::<u32>(), 300);
        }
    }

    #[test]
    fn a_window_of_4096_packets_holds_128_or_129_blocks_and_gives_all_back() {
        for (first, blocks) in [
            (0, 128),
            (1, 129),
            (31, 129),
            (0xff_ffff, 129),
            (0xff_ffe0, 128),
        ] {
            let mut pool = WindowPool::default();
            let mut window = Window::new(Psn::new(first));
            assert_eq!(fill(&mut window, &mut pool), 4096);
            assert_eq!(window.blocks(), blocks);
            assert_eq!(pool.free(), WindowPool::BLOCKS - blocks);
            for ahead in (1..4096).chain([0]) {
                window.acknowledge(Psn::new(first).plus(ahead));
                window.advance(&mut pool);
            }
            assert_eq!((window.blocks(), pool.free()), (0, WindowPool::BLOCKS));
        }
    }

    #[test]
    fn the_first_block_is_always_there_while_one_is_free() {
        let mut pool = WindowPool::new(3);
        let mut windows: Vec<_> = (0..4).map(|_| Window::new(Psn::new(40))).collect();
        // The block of PSN 40 has 24 places from there on. With three blocks free the first queue pair may take two, but then as many as it holds are not free.
        assert_eq!(pool.room(&windows[0]), 32);
        for _ in 0..24 {
            windows[0].push(packet(), &mut pool);
        }
        assert_eq!(pool.room(&windows[0]), 32);
        assert_eq!(pool.room(&windows[1]), 24);
        windows[1].push(packet(), &mut pool);
        assert_eq!(pool.room(&windows[0]), 0);
        assert_eq!(pool.room(&windows[1]), 23);
        windows[2].push(packet(), &mut pool);
        assert_eq!(pool.room(&windows[3]), 0);
        // Who has no block waits, and each one once.
        pool.wait(3);
        pool.wait(7);
        pool.wait(3);
        assert_eq!(pool.wake(), None);
        windows[2].acknowledge(Psn::new(40));
        windows[2].advance(&mut pool);
        assert_eq!(pool.free(), 1);
        assert_eq!(
            [pool.wake(), pool.wake(), pool.wake()],
            [Some(3), Some(7), None]
        );
    }
}
