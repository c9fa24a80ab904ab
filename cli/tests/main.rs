//! The command line tool, run as a program.

mod bad_clusters;
mod bad_input;
mod boards;
mod demo;
mod figures;
mod modes;
mod serve;
mod sim_threads;
mod wave;
mod write_imm_bw;
