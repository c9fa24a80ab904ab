//! Eventfds, which carry interrupts.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{eventfd, poll, EventfdFlags, PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::device::DeviceError;

fn failed(error: &impl ToString) -> DeviceError {
    DeviceError::Backend {
        what: "an eventfd",
        reason: error.to_string(),
    }
}

/// An event that is not signalled.
pub fn new_event() -> Result<OwnedFd, DeviceError> {
    let flags = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
    eventfd(0, flags).map_err(|error| failed(&error))
}

/// Waits until an event is signalled, for at most `timeout` of wall time (less if a signal handler interrupts). Returns whether there was one, and clears it.
pub fn take_event(event: &OwnedFd, timeout: Duration) -> Result<bool, DeviceError> {
    let timeout = Timespec::try_from(timeout).map_err(|error| failed(&error))?;
    let mut events = [PollFd::new(event, PollFlags::IN)];
    match poll(&mut events, Some(&timeout)) {
        Ok(0) | Err(Errno::INTR) => return Ok(false),
        Ok(_) => {}
        Err(error) => return Err(failed(&error)),
    }
    match rustix::io::read(event, &mut [0; 8]) {
        Ok(_) => Ok(true),
        // Another thread has consumed it.
        Err(Errno::AGAIN) => Ok(false),
        Err(error) => Err(failed(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_taken_once_however_often_it_was_signalled() {
        let event = new_event().unwrap();
        let short = Duration::from_millis(5);
        assert!(!take_event(&event, short).unwrap());
        for _ in 0..2 {
            rustix::io::write(&event, &1u64.to_ne_bytes()).unwrap();
        }
        assert!(take_event(&event, Duration::ZERO).unwrap());
        assert!(!take_event(&event, Duration::ZERO).unwrap());
    }
}
