//! Assigns the functions of a model to the blocks of the design, for profiles.

use std::collections::BTreeMap;

use crate::usage::Usage;

/// A block is named by at most this many levels of its instance path.
const LEVELS: usize = 3;

/// Returns the path of the instance that contains most of the signals that a function writes, for example `port0.front.icrc`. The path is empty for
/// the top module.
pub(crate) fn block(usage: &Usage) -> String {
    let mut votes: BTreeMap<String, usize> = BTreeMap::new();
    for signal in usage.writes.keys() {
        *votes.entry(path(signal)).or_default() += 1;
    }
    let most = votes.into_iter().max_by_key(|(_, votes)| *votes);
    most.map(|(path, _)| path).unwrap_or_default()
}

/// Returns the instance path of a signal: `port0` for `nic__DOT__u_inner__DOT__u_port0__DOT__valid`. The emitter names instances `u_<name>`. `inner`
/// is the design inside the wrapper of a gated model and is left out.
fn path(signal: &str) -> String {
    let instances = signal
        .split("__DOT__")
        .filter_map(|name| name.strip_prefix("u_"));
    let inside = instances.skip_while(|name| *name == "inner");
    inside.take(LEVELS).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_is_where_most_is_written() {
        let writes = [
            "__Vdly__nic__DOT__u_inner__DOT__u_port0__DOT__u_front__DOT__u_icrc__DOT__u_crc__DOT__register",
            "nic__DOT__u_inner__DOT__u_port0__DOT__u_front__DOT__u_icrc__DOT__valid",
            "nic__DOT__u_inner__DOT__u_port0__DOT__ready",
            "nic__DOT__gate_held_4",
        ];
        let writes = writes.map(|name| (name.to_owned(), 1)).into();
        let usage = Usage {
            writes,
            ..Usage::default()
        };
        assert_eq!(block(&usage), "port0.front.icrc");
        assert_eq!(path("nic__DOT__gate_held_4"), "");
    }
}
