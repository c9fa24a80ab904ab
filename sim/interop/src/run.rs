//! A run of cases.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{bail, Context};
use sim_bridge::{BitFlip, Bridge, BridgeConfig, HostAddresses, Impairment, LinkAddress};
use sim_nic::{LoneCard, ModelKind};

use crate::bed::Bed;
use crate::card_end;
use crate::cases::{self, Case, Outcome};
use crate::traffic::Counts;
use crate::{table, tshark};

/// Wall time that simulated time takes at least. The card's timers run on simulated time, and the guest needs wall time to answer.
const PACE: u32 = 2000;
/// Captures of the cases in which the card does right, and of those in which it is made to do wrong.
const CAPTURE: &str = "rxe.pcapng";
const WRONG_CAPTURE: &str = "rxe_wrong_bits.pcapng";

/// What to run, and against whom.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the guest's network card is met.
    pub net: LinkAddress,
    /// Socket of the guest's serial port.
    pub control: PathBuf,
    /// Socket of QEMU's machine protocol; without it cases that stop the guest fail.
    pub qmp: Option<PathBuf>,
    /// Directory of the captures.
    pub directory: PathBuf,
    /// Names of cases; none for all.
    pub names: Vec<String>,
    /// The short form.
    pub is_short: bool,
    /// Seed of all data and of the link's faults.
    pub seed: u64,
    /// How the card is simulated.
    pub model: ModelKind,
    /// A wrong header bit in all packets of the card, which should fail every case.
    pub flip: Option<BitFlip>,
}

/// A case that was run.
#[derive(Debug)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// RoCEv2 packets that the peer sent.
    pub to_card: Counts,
    /// RoCEv2 packets that the card sent.
    pub to_peer: Counts,
    /// Packets that the bridge dropped, duplicated or held back.
    pub impaired: u64,
    /// How long it took.
    pub wall: Duration,
    /// What came of it.
    pub outcome: anyhow::Result<Outcome>,
}

/// What came of a run.
#[derive(Debug)]
pub struct Report {
    /// What the peer says of itself.
    pub peer: String,
    /// The cases in the order in which they ran.
    pub rows: Vec<Row>,
    /// What tshark found, if it found something.
    pub tshark: anyhow::Result<()>,
    /// Packets that tshark looked at.
    pub packets: u64,
}

impl Report {
    /// The rows as a table.
    pub fn table(&self) -> String {
        table::text(&self.rows)
    }

    /// Cases that failed.
    pub fn failed(&self) -> usize {
        let rows = self.rows.iter();
        rows.filter(|row| row.outcome.is_err()).count()
    }

    /// Everything holds.
    pub fn is_good(&self) -> bool {
        self.failed() == 0 && self.tshark.is_ok()
    }
}

/// The cases that are asked for, each with its place among all.
fn chosen(options: &Options) -> anyhow::Result<Vec<(u64, Case)>> {
    let all = cases::all();
    for name in &options.names {
        if !all.iter().any(|case| case.name == *name) {
            bail!("there is no case '{name}'; --list names them");
        }
    }
    let is_chosen = |case: &Case| match options.names.is_empty() {
        true => case.is_short || !options.is_short,
        false => options.names.contains(&case.name),
    };
    let numbered = (1..).zip(all);
    Ok(numbered.filter(|(_, case)| is_chosen(case)).collect())
}

fn run_case(bed: &mut Bed, number: u64, case: &Case) -> anyhow::Result<Outcome> {
    bed.begin(case.version, number)?;
    let outcome = (case.run)(bed);
    let finished = bed.finish();
    let outcome = outcome?;
    finished?;
    if !case.is_wrong_on_purpose {
        bed.check_memory()?;
        bed.check_traffic(case.may_repeat)?;
    }
    Ok(outcome)
}

/// Brings the card up and runs the cases. `tell` is called after each with a line about it.
///
/// # Errors
/// Says why no case could be run. What fails in a case is in its row.
pub fn run(options: &Options, mut tell: impl FnMut(String)) -> anyhow::Result<Report> {
    let cases = chosen(options)?;
    std::fs::create_dir_all(&options.directory)
        .with_context(|| format!("{}", options.directory.display()))?;
    let (capture, wrong_capture) = (
        options.directory.join(CAPTURE),
        options.directory.join(WRONG_CAPTURE),
    );
    // The socket is the sign for the guest to start, so the model comes first.
    sim_nic::NicModel::shared(options.model)?;
    let bridge = Bridge::open(&BridgeConfig {
        address: options.net.clone(),
        port: 0,
        host: HostAddresses {
            mac: card_end::MAC,
            ips: vec![card_end::IPV4.into(), card_end::IPV6.into()],
        },
        to_card: Impairment::NONE,
        to_peer: Impairment::NONE,
        seed: options.seed,
        flip: None,
        capture: Some(capture.clone()),
        pace: PACE,
    })?;
    let card = LoneCard::plugged(Box::new(bridge.clone()), options.model)?;
    let qmp = options.qmp.clone();
    let mut bed = Bed::new(card, bridge.clone(), &options.control, qmp, options.seed)?;
    let hello = bed.hello();
    let peer = format!(
        "{} of Linux {}",
        hello.text("device")?,
        hello.text("kernel")?
    );
    bridge.set_flip(options.flip);
    let (mut rows, mut wrong_packets) = (Vec::new(), 0);
    for (number, case) in &cases {
        let began = Instant::now();
        let before = bed.traffic().all_packets;
        let set_capture = |path: &Path| bridge.set_capture(path);
        if case.is_wrong_on_purpose {
            set_capture(&wrong_capture)?;
        }
        let outcome = run_case(&mut bed, *number, case);
        if case.is_wrong_on_purpose {
            wrong_packets += bed.traffic().all_packets - before;
        }
        let row = {
            let traffic = bed.traffic();
            Row {
                name: case.name.clone(),
                to_card: traffic.to_card,
                to_peer: traffic.to_peer,
                impaired: traffic.impaired,
                wall: began.elapsed(),
                outcome,
            }
        };
        tell(format!(
            "{:>5.1} s  {}: {}",
            row.wall.as_secs_f64(),
            row.name,
            table::outcome(&row)
        ));
        rows.push(row);
    }
    bed.ask("quit")?;
    bridge.flush()?;
    let packets = bed.traffic().all_packets - wrong_packets;
    let tshark = match options.flip {
        Some(_) => Ok(()),
        None => tshark::check(&capture, packets),
    };
    Ok(Report {
        peer,
        rows,
        tshark,
        packets,
    })
}
