//! Parameters that both ends of a test in two processes must share.

use anyhow::bail;
use serde::{Deserialize, Serialize};
use stellar_driver::Transport;

/// Parameters of one end, in the order in which differences are reported.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms(Vec<(String, String)>);

impl Terms {
    /// Parameters of a test by name. The first one is the version of this program.
    pub fn new(
        test: &str,
        connection: Transport,
        mtu: u32,
        sizes: &[u32],
        iterations: u32,
        queue_pairs: u32,
    ) -> Self {
        let size = match sizes {
            [one] => one.to_string(),
            _ => "--all".to_owned(),
        };
        let terms = [
            ("the version", env!("CARGO_PKG_VERSION").to_owned()),
            ("the test", test.to_owned()),
            ("--connection", connection.to_string()),
            ("--size", size),
            ("--iters", iterations.to_string()),
            ("--qp", queue_pairs.to_string()),
            ("--mtu", mtu.to_string()),
        ];
        Self(terms.map(|(name, value)| (name.to_owned(), value)).into())
    }

    /// Checks that the peer has the same parameters.
    pub fn check(&self, theirs: &Self, peer: &str) -> anyhow::Result<()> {
        let differ = |(mine, theirs): (&(String, String), &(String, String))| {
            (mine != theirs)
                .then(|| format!("{} is {} here and {} at the peer", mine.0, mine.1, theirs.1))
        };
        let same_names =
            self.0.len() == theirs.0.len() && self.0.iter().zip(&theirs.0).all(|(a, b)| a.0 == b.0);
        if !same_names {
            bail!("{peer} runs another version of this program; use the same on both ends");
        }
        let differences: Vec<_> = self.0.iter().zip(&theirs.0).filter_map(differ).collect();
        if differences.is_empty() {
            return Ok(());
        }
        bail!(
            "the two ends differ: {} ({peer}); start both alike",
            differences.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_difference_is_named() {
        let mine = Terms::new("write_bw", Transport::Mrc, 4096, &[64], 100, 1);
        assert!(mine.check(&mine, "client x").is_ok());
        let theirs = Terms::new("write_lat", Transport::Rc, 1024, &[2, 4], 7, 3);
        let error = mine.check(&theirs, "client x").unwrap_err().to_string();
        for part in [
            "the test is write_bw here and write_lat at the peer",
            "--connection is MRC here and RC at the peer",
            "--size is 64 here and --all at the peer",
            "--iters is 100 here and 7",
            "--qp is 1 here and 3",
            "--mtu is 4096 here and 1024",
            "(client x)",
        ] {
            assert!(error.contains(part), "no '{part}' in: {error}");
        }
        assert!(!error.contains("version"), "{error}");
        let mut other = mine.clone();
        other.0[0].1 = "0.0.0".to_owned();
        let error = mine.check(&other, "client x").unwrap_err().to_string();
        assert!(error.contains("the version is"), "{error}");
        other.0.pop();
        let error = mine.check(&other, "client x").unwrap_err().to_string();
        assert!(error.contains("another version"), "{error}");
    }
}
