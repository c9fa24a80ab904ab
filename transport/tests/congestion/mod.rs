//! NSCC: the fixed-point window against a real-valued one, its rules one by one, and its limits.

mod agreement;
mod limits;
mod params;
mod path;
mod quick_adapt;
mod real;
mod reciprocal;
mod rules;
