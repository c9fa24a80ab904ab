//! Balancers and their parameters, as a topology file has them.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::conga::Conga;
use super::conweave::{ConWeave, Times};
use super::drill::Drill;
use super::flowlets::LetFlow;
use super::{Adaptive, Choose, Dice, Spray};
use crate::{Time, Topology};

/// How switches choose among equal paths. Those without parameters have braces, because unknown keys of others would not be errors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Balancer {
    /// ECMP: a hash of the flow decides.
    Ecmp {},
    /// Random packet spraying: a random output for each packet (Dixit et al., INFOCOM 2013).
    Spray {},
    /// Adaptive routing: the shortest queue for each packet.
    Adaptive {},
    /// LetFlow: a random output for each flowlet (Vanini et al., NSDI 2017).
    LetFlow {
        /// Shortest gap between two flowlets, in microseconds.
        #[serde(default = "gap")]
        gap_us: f64,
    },
    /// CONGA: the least congested path for each flowlet (Alizadeh et al., SIGCOMM 2014). Two tiers only.
    Conga {
        /// Shortest gap between two flowlets, in microseconds.
        #[serde(default = "gap")]
        gap_us: f64,
        /// Period of the rate estimator, in microseconds.
        #[serde(default = "conga_period")]
        period_us: f64,
        /// What the estimator loses in a period, as a part of it.
        #[serde(default = "conga_alpha")]
        alpha: f64,
        /// Time after which a metric from the other leaf no longer counts, in microseconds.
        #[serde(default = "conga_age")]
        age_us: f64,
        /// How many neighbouring uplinks a flowlet chooses among, from a random one on; without it all, as in the paper. ConWeave's simulator has 4.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        uplinks: Option<usize>,
    },
    /// ConWeave: a path whose round trip is too long is left while the flow runs, and the last switch restores the order (Song et al., SIGCOMM 2023). Two
    /// tiers only.
    #[serde(rename = "conweave")]
    ConWeave {
        /// How much later than on an idle path the reply to a packet may come, in microseconds.
        #[serde(default = "conweave_reply")]
        reply_us: f64,
        /// Time for which nothing is rerouted to a path with a congestion mark, in microseconds.
        #[serde(default = "conweave_busy")]
        busy_us: f64,
        /// Time after which a flow that was rerouted or idle begins anew, in microseconds.
        #[serde(default = "conweave_expiry")]
        expiry_us: f64,
        /// Time for which the last switch holds packets if no packet told how long the old path takes, in microseconds.
        #[serde(default = "conweave_hold")]
        hold_us: f64,
        /// How much later than expected the last packet of the old path may come, in microseconds.
        #[serde(default = "conweave_slack")]
        slack_us: f64,
    },
    /// DRILL(d, m): of some random outputs and the best ones of the last time, the shortest queue for each packet (Ghorbani et al., SIGCOMM 2017).
    Drill {
        /// Random outputs, d.
        #[serde(default = "drill_samples")]
        samples: usize,
        /// Outputs remembered, m.
        #[serde(default = "drill_remembered")]
        remembered: usize,
    },
}

impl Default for Balancer {
    fn default() -> Self {
        Self::Ecmp {}
    }
}

/// 100 us, as ConWeave's simulator has for LetFlow and CONGA.
const fn gap() -> f64 {
    100.0
}

/// 50 us, as ConWeave's simulator has.
const fn conga_period() -> f64 {
    50.0
}

const fn conga_alpha() -> f64 {
    0.2
}

const fn conga_age() -> f64 {
    500.0
}

/// The times that ConWeave's simulator has for two tiers.
const fn conweave_reply() -> f64 {
    4.0
}

const fn conweave_busy() -> f64 {
    16.0
}

const fn conweave_expiry() -> f64 {
    300.0
}

const fn conweave_hold() -> f64 {
    200.0
}

const fn conweave_slack() -> f64 {
    16.0
}

/// The paper's choice: DRILL(2, 1).
const fn drill_samples() -> usize {
    2
}

const fn drill_remembered() -> usize {
    1
}

/// Most outputs that DRILL samples or remembers.
const MOST_SAMPLES: usize = 64;
/// Longest time of a balancer, in microseconds.
const LONGEST_US: f64 = 1e9;

/// A parameter of a balancer that does not fit: its name, what is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BadBalancer {
    pub parameter: &'static str,
    pub value: f64,
    pub range: &'static str,
}

impl FromStr for Balancer {
    type Err = String;

    /// Reads a name and parameters, like `let-flow,gap_us=50`. Parameters left out have their defaults.
    fn from_str(text: &str) -> Result<Self, String> {
        let (name, parameters) = text.split_once(',').unwrap_or((text, ""));
        let parameters = parameters.split(',').filter(|part| !part.is_empty());
        let parameters: String = parameters.map(|part| format!("{part}\n")).collect();
        let mut table: toml::Table = toml::from_str(&parameters)
            .map_err(|_| format!("write {name:?} with parameters like let-flow,gap_us=50"))?;
        table.insert("name".into(), name.into());
        let balancer: Self = table
            .try_into()
            .map_err(|error| error.message().to_owned())?;
        match balancer.check() {
            Ok(()) => Ok(balancer),
            Err(BadBalancer {
                parameter,
                value,
                range,
            }) => Err(format!(
                "{parameter} {value} is outside its range: give {range}"
            )),
        }
    }
}

impl Balancer {
    /// Its name, as in files and on the command line.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Ecmp {} => "ecmp",
            Self::Spray {} => "spray",
            Self::Adaptive {} => "adaptive",
            Self::LetFlow { .. } => "let-flow",
            Self::Conga { .. } => "conga",
            Self::ConWeave { .. } => "conweave",
            Self::Drill { .. } => "drill",
        }
    }

    /// Checks the parameters.
    pub(crate) fn check(&self) -> Result<(), BadBalancer> {
        let time = |parameter, value: f64| {
            let fits = value > 0.0 && value <= LONGEST_US;
            let range = "above 0, up to 1e9 us";
            fits.then_some(()).ok_or(BadBalancer {
                parameter,
                value,
                range,
            })
        };
        match *self {
            Self::Ecmp {} | Self::Spray {} | Self::Adaptive {} => Ok(()),
            Self::LetFlow { gap_us } => time("gap_us", gap_us),
            Self::Conga {
                gap_us,
                period_us,
                alpha,
                age_us,
                uplinks,
            } => {
                time("gap_us", gap_us)?;
                time("period_us", period_us)?;
                time("age_us", age_us)?;
                let fits = alpha > 0.0 && alpha < 1.0;
                fits.then_some(()).ok_or(BadBalancer {
                    parameter: "alpha",
                    value: alpha,
                    range: "between 0 and 1",
                })?;
                let fits = uplinks.is_none_or(|uplinks| uplinks > 0);
                fits.then_some(()).ok_or(BadBalancer {
                    parameter: "uplinks",
                    value: 0.0,
                    range: "1 or more",
                })
            }
            Self::ConWeave {
                reply_us,
                busy_us,
                expiry_us,
                hold_us,
                slack_us,
            } => {
                time("reply_us", reply_us)?;
                time("busy_us", busy_us)?;
                time("expiry_us", expiry_us)?;
                time("hold_us", hold_us)?;
                time("slack_us", slack_us)
            }
            Self::Drill {
                samples,
                remembered,
            } => {
                let bad = |parameter, value, range| BadBalancer {
                    parameter,
                    value: value as f64,
                    range,
                };
                if !(1..=MOST_SAMPLES).contains(&samples) {
                    return Err(bad("samples", samples, "1 to 64"));
                }
                if remembered > MOST_SAMPLES {
                    return Err(bad("remembered", remembered, "0 to 64"));
                }
                Ok(())
            }
        }
    }

    /// The balancer of a fabric, with parameters that were checked; `None` for ECMP, which has no state.
    pub(crate) fn start(&self, topology: &Topology, seed: u64) -> Option<Box<dyn Choose>> {
        let dice = Dice::new(topology, seed);
        Some(match *self {
            Self::Ecmp {} => return None,
            Self::Spray {} => Box::new(Spray(dice)),
            Self::Adaptive {} => Box::new(Adaptive(dice)),
            Self::LetFlow { gap_us } => Box::new(LetFlow::new(picoseconds(gap_us), dice)),
            Self::Conga {
                gap_us,
                period_us,
                alpha,
                age_us,
                uplinks,
            } => Box::new(Conga::new(
                topology,
                [gap_us, period_us, age_us].map(picoseconds),
                alpha,
                uplinks.unwrap_or(usize::MAX),
                dice,
            )),
            Self::ConWeave {
                reply_us,
                busy_us,
                expiry_us,
                hold_us,
                slack_us,
            } => {
                let times = Times {
                    reply: picoseconds(reply_us),
                    busy: picoseconds(busy_us),
                    expiry: picoseconds(expiry_us),
                    hold: picoseconds(hold_us),
                    slack: picoseconds(slack_us),
                };
                Box::new(ConWeave::new(topology, times, dice))
            }
            Self::Drill {
                samples,
                remembered,
            } => Box::new(Drill::new(samples, remembered, dice)),
        })
    }
}

fn picoseconds(us: f64) -> Time {
    ((us * 1e6).round() as Time).max(1)
}
