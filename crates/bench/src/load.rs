//! A database with a million sealed records, made through the service in process with the sync off.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use server::temp_folder::TempFolder;

use crate::{
    client::{Asked, body, fresh_name},
    plane::{Plane, pay_and_order},
    table::{count, mebibytes},
};

/// One request in so many is allowed, and its mandate used by an order; the others are denied. Each seals a record.
const ONE_ALLOWED_IN: u64 = 10;

/// How many callers at once.
const CALLERS: u64 = 64;

/// The file in a folder that says how many records were loaded.
const LOADED: &str = "bench.loaded";

/// A loaded data folder.
pub(crate) struct Loaded {
    pub(crate) path: PathBuf,
    pub(crate) records: u64,
    _folder: Option<TempFolder>,
}

impl Loaded {
    /// The size of the database's file.
    pub(crate) fn size(&self) -> u64 {
        size(&self.path)
    }
}

pub(crate) fn size(folder: &Path) -> u64 {
    ["chancery.db", "chancery.db-wal"].iter().filter_map(|name| fs::metadata(folder.join(name)).ok()).map(|file| file.len()).sum()
}

/// The folder with at least so many records, loaded unless it is already.
pub(crate) fn loaded(folder: Option<&Path>, records: u64) -> Loaded {
    let temporary = folder.is_none().then(|| TempFolder::new().unwrap());
    let path = folder.or(temporary.as_ref().map(TempFolder::path)).unwrap().to_owned();
    let held = fs::read_to_string(path.join(LOADED)).ok().and_then(|text| text.trim().parse::<u64>().ok()).unwrap_or(0);
    if held < records {
        let plane = Plane::start(&path, false);
        for step in 1..=4 {
            let so_far = held + (records - held) * (step - 1) / 4;
            let wanted = held + (records - held) * step / 4;
            let begun = Instant::now();
            load(&plane, wanted - so_far);
            let rate = (wanted - so_far) as f64 / begun.elapsed().as_secs_f64();
            println!("loaded {} records, {} per second, {}", count(wanted as f64), count(rate), mebibytes(size(&path)));
        }
        plane.stop();
        fs::write(path.join(LOADED), records.to_string()).unwrap();
        println!();
    }
    Loaded { path, records: held.max(records), _folder: temporary }
}

/// Seals so many records more.
pub(crate) fn load(plane: &Plane, records: u64) {
    let (agent, seller) = plane.callers();
    let next = Arc::new(AtomicU64::new(0));
    plane.runtime.block_on(async {
        let callers: Vec<_> = (0..CALLERS)
            .map(|_| {
                let (service, agent, seller, next) = (plane.service.clone(), agent.clone(), seller.clone(), next.clone());
                tokio::spawn(async move {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= records {
                            return;
                        }
                        let asked = if number.is_multiple_of(ONE_ALLOWED_IN) { Asked::Allow } else { Asked::Deny };
                        let name = fresh_name();
                        pay_and_order(&service, &agent, &seller, &name, &body(asked, &name)).await;
                    }
                })
            })
            .collect();
        for caller in callers {
            caller.await.unwrap();
        }
    });
}
