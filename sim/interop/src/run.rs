//! A run of cases.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{bail, Context};
use sim_bridge::{BitFlip, Bridge, BridgeConfig, HostAddresses, Impairment, LinkAddress};
use sim_nic::LoneCard;

use crate::bed::Bed;
use crate::card_end;
use crate::cases::{self, Case};
use crate::traffic::Counts;
use crate::{table, tshark};

/// Minimum ratio of wall time to simulated time. The card's timers run on simulated time, and the guest needs wall time to respond.
const PACE: u32 = 2000;
/// Capture of the normal cases. Cases in which the bridge corrupts the card's headers have captures of their own.
const CAPTURE: &str = "rxe.pcapng";

/// What to run, and the peer's sockets.
#[derive(Clone, Debug)]
pub struct Options {
    /// Socket of the guest's network card.
    pub net: LinkAddress,
    /// Socket of the guest's serial port.
    pub control: PathBuf,
    /// Socket of QEMU's machine protocol. Without it, cases that stop the guest fail.
    pub qmp: Option<PathBuf>,
    /// Directory for the captures.
    pub directory: PathBuf,
    /// Names of the cases to run; empty for all.
    pub names: Vec<String>,
    /// Run the short form.
    pub is_short: bool,
    /// Seed of all data and of the link's faults.
    pub seed: u64,
    /// Header bit to corrupt in all packets of the card. Every case should then fail.
    pub flip: Option<BitFlip>,
}

/// Result of one case.
#[derive(Debug)]
pub struct Row {
    /// Name of the case.
    pub name: String,
    /// RoCEv2 packets that the peer sent.
    pub to_card: Counts,
    /// RoCEv2 packets that the card sent.
    pub to_peer: Counts,
    /// Packets that the bridge dropped, duplicated or held back.
    pub impaired: u64,
    /// Wall time.
    pub wall: Duration,
    /// Whether both ends behaved as the standard requires, or the reason of the failure.
    pub outcome: anyhow::Result<()>,
}

/// Results of a run.
#[derive(Debug)]
pub struct Report {
    /// The peer's answer to `hello`.
    pub peer: String,
    /// The cases in the order in which they ran.
    pub rows: Vec<Row>,
    /// Result of tshark's check.
    pub tshark: anyhow::Result<()>,
    /// Packets that tshark checked.
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

    /// Whether no case failed and tshark found no fault.
    pub fn is_good(&self) -> bool {
        self.failed() == 0 && self.tshark.is_ok()
    }
}

/// Checks that cases with these names exist.
///
/// # Errors
/// The first name that does not exist.
pub fn check_names(names: &[String]) -> anyhow::Result<()> {
    let all = cases::all();
    let is_there = |name: &&String| all.iter().any(|case| case.name == **name);
    match names.iter().find(|name| !is_there(name)) {
        Some(name) => bail!("there is no case '{name}'; --list names them"),
        None => Ok(()),
    }
}

/// The selected cases, each with its number among all.
fn chosen(options: &Options) -> Vec<(u64, Case)> {
    let is_chosen = |case: &Case| {
        // These cases switch the corruption on and off themselves.
        if options.flip.is_some() && case.is_wrong_on_purpose {
            return false;
        }
        match options.names.is_empty() {
            true => case.is_short || !options.is_short,
            false => options.names.contains(&case.name),
        }
    };
    let numbered = (1..).zip(cases::all());
    numbered.filter(|(_, case)| is_chosen(case)).collect()
}

fn run_case(bed: &mut Bed, number: u64, case: &Case) -> anyhow::Result<()> {
    bed.begin(case.version, number)?;
    let outcome = (case.run)(bed);
    let finished = bed.finish();
    outcome?;
    finished?;
    if !case.is_wrong_on_purpose {
        bed.check_memory()?;
        bed.check_traffic(case.may_retransmit)?;
    }
    Ok(())
}

/// Runs a case and sums it up.
fn row(bed: &mut Bed, number: u64, case: &Case) -> Row {
    let began = Instant::now();
    let outcome = run_case(bed, number, case);
    let traffic = bed.traffic();
    Row {
        name: case.name.clone(),
        to_card: traffic.to_card,
        to_peer: traffic.to_peer,
        impaired: traffic.impaired,
        wall: began.elapsed(),
        outcome,
    }
}

/// Powers up the card with its bridge, and waits for the guest.
fn prepare(options: &Options, capture: &Path) -> anyhow::Result<Bed> {
    // `tools/interop` starts the guest when the socket exists. The model must be built before that.
    sim_nic::NicModel::shared()?;
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
        flip: options.flip,
        capture: Some(capture.to_owned()),
        pace: PACE,
    })?;
    let card = LoneCard::plugged(Box::new(bridge.clone()))?;
    let qmp = options.qmp.clone();
    Bed::new(card, bridge, &options.control, qmp, options.seed)
}

/// Brings the card up and runs the cases. `tell` gets a line of text after each case.
///
/// # Errors
/// The reason why no case could run. A failure of a case is in its row.
pub fn run(options: &Options, mut tell: impl FnMut(String)) -> anyhow::Result<Report> {
    check_names(&options.names)?;
    let cases = chosen(options);
    std::fs::create_dir_all(&options.directory)
        .with_context(|| format!("{}", options.directory.display()))?;
    let capture = options.directory.join(CAPTURE);
    let mut bed = prepare(options, &capture)?;
    let hello = bed.hello();
    let peer = format!(
        "{} of Linux {}",
        hello.text("device")?,
        hello.text("kernel")?
    );
    let (mut rows, mut wrong_packets) = (Vec::new(), 0);
    for (number, case) in &cases {
        let before = bed.traffic().all_packets;
        if case.is_wrong_on_purpose {
            let own = options.directory.join(format!("rxe-{}.pcapng", case.name));
            bed.bridge.set_capture(&own)?;
        }
        let row = row(&mut bed, *number, case);
        if case.is_wrong_on_purpose {
            wrong_packets += bed.traffic().all_packets - before;
        }
        let wall = row.wall.as_secs_f64();
        tell(format!(
            "{wall:>5.1} s  {}: {}",
            row.name,
            table::outcome(&row)
        ));
        rows.push(row);
    }
    // A guest that has ended does not answer. The rows report that already.
    let _ = bed.ask("quit");
    bed.bridge.flush()?;
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
