//! The engine on a network in memory that delivers in any order.

mod barriers;
mod cluster;
mod errors;
mod failures;
mod intruders;
mod messages;
mod network;
mod regions;
mod transfers;
mod workers;
