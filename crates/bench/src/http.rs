//! `POST /v0/payment-requests` with the record durable, beside the machine's own syncs and the same without the sync.

use std::time::Duration;

use server::temp_folder::TempFolder;

use crate::{
    client::{Asked, Until, drive},
    machine,
    plane::Plane,
    table::{count, median, print, row, time},
};

/// How often each is measured, and for how long.
const ROUNDS: usize = 3;
const DURING: Duration = Duration::from_secs(3);
const CLIENTS: [usize; 3] = [1, 16, 64];

/// What was measured of so many clients.
#[derive(Default)]
struct Measured {
    durable: Vec<f64>,
    not_durable: Vec<f64>,
    half: Vec<f64>,
    most: Vec<f64>,
    together: Vec<f64>,
}

/// Prints the tables.
pub(crate) fn measure() {
    let (durable, not_durable) = (TempFolder::new().unwrap(), TempFolder::new().unwrap());
    let system = machine::file_system(durable.path());
    let planes = [Plane::start(durable.path(), true), Plane::start(not_durable.path(), false)];
    let beside = TempFolder::new().unwrap();
    let mut syncs = Vec::new();
    let mut measured: Vec<(Asked, usize, Measured)> =
        [Asked::Allow, Asked::Deny].into_iter().flat_map(|asked| CLIENTS.map(|clients| (asked, clients, Measured::default()))).collect();
    for plane in &planes {
        drive(&plane.target(), 16, Asked::Allow, Until::Count(300));
    }
    for _ in 0..ROUNDS {
        for (asked, clients, measured) in &mut measured {
            syncs.push(machine::syncs_per_second(beside.path(), Duration::from_secs(1)));
            let before = planes[0].service.counts();
            let kept = drive(&planes[0].target(), *clients, *asked, Until::Time(DURING));
            let after = planes[0].service.counts();
            measured.durable.push(kept.rate());
            measured.half.push(kept.latency(50));
            measured.most.push(kept.latency(99));
            measured.together.push(kept.requests as f64 / (after.commits - before.commits) as f64);
            measured.not_durable.push(drive(&planes[1].target(), *clients, *asked, Until::Time(DURING)).rate());
        }
    }
    planes.into_iter().for_each(Plane::stop);
    let syncs = median(&syncs);
    println!(
        "`POST /v0/payment-requests`, the median of {ROUNDS} times {DURING:?} ({system}; 4 KiB appended and synced: {} per second):\n",
        count(syncs)
    );
    let mut rows = vec![row([
        &"result",
        &"clients",
        &"durable, per second",
        &"half within",
        &"99 % within",
        &"requests a commit",
        &"without sync, per second",
        &"share",
        &"times the syncs",
    ])];
    for (asked, clients, measured) in &measured {
        let (kept, free) = (median(&measured.durable), median(&measured.not_durable));
        rows.push(row([
            &if *asked == Asked::Allow { "allow" } else { "deny, sealed" },
            clients,
            &count(kept),
            &time(median(&measured.half)),
            &time(median(&measured.most)),
            &format!("{:.1}", median(&measured.together)),
            &count(free),
            &format!("{:.0} %", 100.0 * kept / free),
            &format!("{:.1}", kept / syncs),
        ]));
        if *clients == 64 {
            let wanted = (10.0 * syncs).min(0.6 * free);
            println!("At 64 clients {} of {} wanted: {}.\n", count(kept), count(wanted), if kept >= wanted { "reached" } else { "missed" });
        }
    }
    print(&rows);
}
