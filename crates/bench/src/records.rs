//! The cost of a request at a thousand records and at a million: the same number of requests, with the sync on, by turns.

use server::temp_folder::TempFolder;

use crate::{
    client::{self, Asked, Until, drive},
    load::{self, Loaded},
    machine,
    plane::Plane,
    table::{count, mebibytes, median, print, row, time, times},
};

const ROUNDS: usize = 5;
const REQUESTS: u64 = 3000;
const CLIENTS: usize = 16;
const FEW: u64 = 1000;

/// What a request cost, in seconds.
#[derive(Default)]
struct Cost {
    /// On the clock, all clients together.
    clock: Vec<f64>,
    /// On a core, in all threads of the server.
    cores: Vec<f64>,
    /// On a core, in the thread that writes.
    writer: Vec<f64>,
}

impl Cost {
    fn measure(&mut self, plane: &Plane, asked: Asked) {
        let before = (machine::cpu_seconds_without(client::THREAD), machine::cpu_seconds_of("store-writer"));
        let driven = drive(&plane.target(), CLIENTS, asked, Until::Count(REQUESTS));
        let after = (machine::cpu_seconds_without(client::THREAD), machine::cpu_seconds_of("store-writer"));
        let requests = driven.requests as f64;
        self.clock.push(driven.seconds / requests);
        self.cores.push((after.0 - before.0) / requests);
        self.writer.push((after.1 - before.1) / requests);
    }
}

/// Prints the table.
pub(crate) fn measure(loaded: &Loaded) {
    let mut costs = [(Asked::Allow, Cost::default(), Cost::default()), (Asked::Deny, Cost::default(), Cost::default())];
    let many = Plane::start(&loaded.path, true);
    let mut size_of_few = 0;
    for _ in 0..ROUNDS {
        for (asked, at_few, at_many) in &mut costs {
            let folder = TempFolder::new().unwrap();
            let loader = Plane::start(folder.path(), false);
            load::load(&loader, FEW);
            loader.stop();
            let few = Plane::start(folder.path(), true);
            for (plane, cost) in [(&few, at_few), (&many, at_many)] {
                drive(&plane.target(), CLIENTS, *asked, Until::Count(300));
                cost.measure(plane, *asked);
            }
            few.stop();
            size_of_few = load::size(folder.path());
        }
    }
    many.stop();
    println!(
        "A request at {} and at {} records, {CLIENTS} clients, the median of {ROUNDS} times {REQUESTS} requests ({} and {}):\n",
        count(FEW as f64),
        count(loaded.records as f64),
        mebibytes(size_of_few),
        mebibytes(loaded.size())
    );
    let mut rows = vec![row([&"result", &"cost", &count(FEW as f64), &count(loaded.records as f64), &"ratio"])];
    for (asked, few, many) in &costs {
        let result = if *asked == Asked::Allow { "allow" } else { "deny, sealed" };
        for (cost, few, many) in
            [("on the clock", &few.clock, &many.clock), ("of cores", &few.cores, &many.cores), ("of the writer's core", &few.writer, &many.writer)]
        {
            let (few, many) = (median(few), median(many));
            rows.push(row([&result, &cost, &time(few), &time(many), &times(many, few)]));
        }
    }
    print(&rows);
}
