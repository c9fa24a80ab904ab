//! How many threads simulate cards.

use std::env;
use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::thread;

use thiserror::Error;

/// Environment variable with the number of threads on which the cards of a process run, if the program does not choose it.
pub const VARIABLE: &str = "STELLAR_SIM_THREADS";

static CHOSEN: OnceLock<NonZeroUsize> = OnceLock::new();

/// The environment variable [`VARIABLE`] contains something that is not a number of threads.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("environment variable {VARIABLE}: `{text}` is not a number of threads: use 1 or more; each card uses up to two")]
pub struct ThreadsError {
    /// Content of the variable.
    pub text: String,
}

/// Sets the number of threads of this process. Call it before the first card.
///
/// # Panics
/// If another number was chosen before.
pub fn choose_threads(threads: NonZeroUsize) {
    let chosen = *CHOSEN.get_or_init(|| threads);
    assert_eq!(chosen, threads, "the number of threads is chosen once");
}

/// The number of threads that [`choose_threads`] set, else the one in [`VARIABLE`], else as many as this process has processors.
///
/// # Errors
/// [`ThreadsError`] if the variable contains something else.
pub fn threads() -> Result<NonZeroUsize, ThreadsError> {
    if let Some(&threads) = CHOSEN.get() {
        return Ok(threads);
    }
    let text = env::var_os(VARIABLE).unwrap_or_default();
    from_variable(&text.to_string_lossy())
}

/// Whether `threads` are two for each of `cards`: then each of them may have a helper ([`Behind`](crate::Behind)).
pub const fn are_two_each(threads: NonZeroUsize, cards: usize) -> bool {
    threads.get() >= 2 * cards
}

fn from_variable(text: &str) -> Result<NonZeroUsize, ThreadsError> {
    if text.is_empty() {
        return Ok(thread::available_parallelism().unwrap_or(NonZeroUsize::MIN));
    }
    text.parse().map_err(|_| ThreadsError {
        text: text.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_threads_for_each_card_are_enough() {
        let enough = |threads, cards| are_two_each(NonZeroUsize::new(threads).unwrap(), cards);
        assert!(enough(2, 1) && enough(5, 2));
        assert!(!enough(1, 1) && !enough(3, 2));
    }

    #[test]
    fn the_variable_is_a_number_above_zero_or_empty() {
        assert_eq!(from_variable("3"), Ok(NonZeroUsize::new(3).unwrap()));
        assert!(from_variable("").is_ok());
        for wrong in ["0", "-1", "two", "1.5", " 2"] {
            let error = from_variable(wrong).unwrap_err().to_string();
            let expected = format!("environment variable STELLAR_SIM_THREADS: `{wrong}` is not a number of threads: use 1 or more; each card uses up to two");
            assert_eq!(error, expected);
        }
    }
}
