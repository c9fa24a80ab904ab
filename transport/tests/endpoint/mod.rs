//! Two cards and a bad network between them: memory byte-exact, completions in order and once, nothing hanging.

mod addresses;
mod cards;
mod coalescing;
mod control_packets;
mod errors;
mod immediates;
mod losses;
mod network;
mod own_policy;
mod pair;
mod path_feedback;
mod paths;
mod random;
mod rc;
mod rc_paths;
mod records;
mod refusals;
mod retries;
mod rnr;
mod sack_contents;
mod sharing;
mod silent_plane;
mod transport_acks;
mod work_requests;
