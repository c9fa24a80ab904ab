//! Messages about wrong options and files of `./stellar cluster`.

use crate::bad_input::{refuse, scratch};

#[test]
fn a_cluster_with_wrong_options_or_files_is_refused() {
    let folder = scratch();
    let write = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).expect("a file");
    };
    write(
        "bad.cm",
        "Nodes 120\nConnections 1\n0->120 start 0 size 5\n",
    );
    write("bad.txt", "1\n0 1 3 100\n");
    write("bad.topo", "Nodes 8\nTiers 5\n");
    write(
        "planes.toml",
        "[defaults]\nrate_gbps = 200\n[back_to_back]\nplanes = 3\n",
    );
    for (arguments, status, parts) in [
        (&["--pattern", "star"][..], 2, &["star", "all-to-all"][..]),
        (&["--queue-pairs", "two"], 2, &["two", "per-pair"]),
        (&["--packets", "frames"], 2, &["frames", "bytes"]),
        (&["--sample-window", "8..7"], 2, &["8..7", "like 100..800"]),
        (&["--sample-us", "0"], 2, &["--sample-us"]),
        (&["--limit-us", "0"], 2, &["--limit-us"]),
        (&["--matrix", "a.cm", "--flows", "b"], 2, &["--flows"]),
        (&["--matrix", "a.cm"], 1, &["a.cm: cannot be read"]),
        (&["--matrix", "bad.cm"], 1, &["bad.cm:3", "0 to 119"]),
        (&["--flows", "bad.txt"], 1, &["bad.txt:2", "the start"]),
        (&["--topology", "bad.topo"], 1, &["bad.topo:2", "2 or 3"]),
        (
            &["--topology", "no.toml"],
            1,
            &["no.toml", "cannot be read"],
        ),
        (
            &["--topology", "planes.toml", "--pattern", "all-to-all"],
            1,
            &["h0", "3 ports", "one or two planes"],
        ),
        (&["--paths", "3"], 1, &["3 active", "even number"]),
        (
            &["--paths", "1", "--policy", "obs"],
            1,
            &["one path at a time"],
        ),
        (
            &["--mode", "rc", "--policy", "obs"],
            1,
            &["RC has one path"],
        ),
        (
            &["--mode", "rc", "--congestion", "dcqcn"],
            1,
            &["fixed window", "--paths 1"],
        ),
        (
            &["--congestion", "dcqn"],
            2,
            &["nscc", "dcqcn", "dcqcn-2015"],
        ),
        (&["--sack-every", "64"], 1, &["64", "1 to 63"]),
        (&["--rto-us", "9000"], 2, &["--rto-us", "1..=8388"]),
        (&["--bytes", "0"], 1, &["0 bytes"]),
        (
            &["--pattern", "ring", "--ranks", "121"],
            1,
            &["121", "2 to 120"],
        ),
    ] {
        let all = [&["cluster"], arguments].concat();
        refuse(folder.path(), &all, status, parts);
    }
}
