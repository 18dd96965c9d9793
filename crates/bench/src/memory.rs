//! The memory that the release binary holds.

use server::temp_folder::TempFolder;

use crate::{
    binary::{self, Binary},
    client::{Asked, Target, Until, drive},
    load::Loaded,
    machine,
    plane::{self, Plane},
    table::{count, mebibytes, print, row},
};

const REQUESTS: u64 = 10_000;
const CLIENTS: usize = 16;

/// Prints the table.
pub(crate) fn measure(loaded: &Loaded) {
    let program = binary::build();
    let fresh = TempFolder::new().unwrap();
    // The first start's policy would ask a person; the measured one is signed before.
    Plane::start(fresh.path(), true).stop();
    let mut rows = vec![row([&"`chancery serve`", &"resident"])];
    for (records, folder) in [(0, fresh.path()), (loaded.records, loaded.path.as_path())] {
        let server = Binary::start(&program, folder);
        let target = Target { address: server.base.trim_start_matches("http://").parse().unwrap(), key: plane::agent_key(folder) };
        let records = count(records as f64);
        rows.push(row([&format!("started on {records} records"), &mebibytes(machine::resident(server.id()))]));
        for asked in [Asked::Allow, Asked::Deny] {
            drive(&target, CLIENTS, asked, Until::Count(REQUESTS / 2));
        }
        rows.push(row([&format!("after {} requests more", count(REQUESTS as f64)), &mebibytes(machine::resident(server.id()))]));
    }
    println!("Memory of the release binary, {CLIENTS} clients, half of the requests allowed, half denied:\n");
    print(&rows);
}
