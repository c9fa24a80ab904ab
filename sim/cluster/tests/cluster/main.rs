//! Tests of clusters through their public functions.

mod bad_files;
mod baselines;
mod common;
mod congestion;
mod files;
mod flows;
mod goal;
mod path_manager;
mod placement;
mod records;
mod results;
mod run_spec;
mod slow_spine;
