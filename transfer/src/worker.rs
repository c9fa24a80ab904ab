//! A thread that drives an engine.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crate::engine::Engine;
use crate::nic::Nic;

/// An engine with a thread that drives it. Callbacks run on that thread while no other thread holds the engine, so they may use it. A callback that
/// panics ends the thread; the engine can still be used by [`Self::with`].
pub struct Worker<N: Nic> {
    shared: Arc<Shared<N>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared<N: Nic> {
    engine: Mutex<Engine<N>>,
    stops: AtomicBool,
}

/// Locks the engine, even if a callback or a caller panicked with the lock: between two calls of its methods it is consistent.
fn lock<N: Nic>(engine: &Mutex<Engine<N>>) -> MutexGuard<'_, Engine<N>> {
    engine.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<N: Nic> Shared<N> {
    fn drive(&self) {
        while !self.stops.load(Ordering::Acquire) {
            let (busy, ready) = {
                let mut engine = lock(&self.engine);
                (engine.step(), engine.take_ready())
            };
            for (call, result) in ready {
                call(result);
            }
            if !busy {
                lock(&self.engine).relax();
                thread::yield_now();
            }
        }
    }
}

impl<N> Worker<N>
where
    N: Nic + Send + 'static,
    N::Memory: Send + Sync,
    N::Region: Send + Sync,
    N::QueuePair: Send,
{
    /// Starts driving an engine.
    pub fn spawn(engine: Engine<N>) -> Self {
        let shared = Arc::new(Shared {
            engine: Mutex::new(engine),
            stops: AtomicBool::new(false),
        });
        let driven = Arc::clone(&shared);
        Self {
            shared,
            thread: Some(thread::spawn(move || driven.drive())),
        }
    }
}

impl<N: Nic> Worker<N> {
    /// Calls a function with the engine, between two of its steps.
    pub fn with<R>(&self, act: impl FnOnce(&mut Engine<N>) -> R) -> R {
        act(&mut lock(&self.shared.engine))
    }
}

impl<N: Nic> Drop for Worker<N> {
    /// Waits for the thread, unless a callback drops the worker. Outstanding work stays outstanding.
    fn drop(&mut self) {
        self.shared.stops.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            if thread.thread().id() != thread::current().id() {
                // The panic of a callback was reported already.
                let _ = thread.join();
            }
        }
    }
}
