//! Figure 7: the address type of a write decides its route.

use sim_nic::PcieSettings;
use sim_pcie::Route;
use stellar_driver::PageSize;

use super::cards::{Cards, Place, Setup};
use super::{Effort, Found, Row};
use crate::progress;

const FIGURE: u8 = 7;
/// Bytes of each write: no multiple of a page or of a payload.
const BYTES: u32 = 100_003;

/// Writes into memory of the GPU and of the host, and counts the payload by route and address type. Every byte must take the paper's route.
pub fn measure(effort: Effort, found: &mut Found) -> anyhow::Result<()> {
    let whole = f64::from(BYTES);
    for (place, name, route, translated, paper) in [
        (
            Place::Gpu,
            "memory of the GPU",
            Route::PeerDirect,
            true,
            "AT = 10, by the switch",
        ),
        (
            Place::Host,
            "memory of the host",
            Route::Host,
            false,
            "AT = 00, root complex",
        ),
    ] {
        let mut cards = Cards::new(Setup {
            seed: effort.seed,
            queue_pairs: 1,
            bytes: BYTES,
            page: PageSize::Size4K,
            source: Place::Gpu,
            target: place,
            pcie: PcieSettings::default(),
        })?;
        let landed = progress::measuring(&format!("routes into {name}"), || cards.transfer())?;
        let right = landed.with_address_type(route, translated);
        let routes = [Route::PeerDirect, Route::Host, Route::Hairpin];
        let all: u64 = routes.map(|route| landed.written(route)).iter().sum();
        found.rows.push(
            Row::new(FIGURE, format!("{name}: by this route"), right as f64, "B")
                .of_paper(paper)
                .within(whole..=whole),
        );
        found.rows.push(
            Row::new(
                FIGURE,
                format!("{name}: by any other"),
                (all - right) as f64,
                "B",
            )
            .within(0.0..=0.0),
        );
    }
    found.parameters.push(format!(
        "figure 7: one write of {BYTES} bytes to each memory, on Verilated cards; ACS with Request Redirect and Direct Translated P2P"
    ));
    Ok(())
}
