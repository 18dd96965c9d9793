//! The public Python client, unchanged, drives the real server: every method that is served, each answer checked, and every
//! other one refused as not available. `scripts/install-peers DIR` installs it; the environment variable `PEERS` names that
//! folder.
#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests fail by panicking

mod plane;

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use lcp::Object;
use plane::Plane;
use server::temp_folder::TempFolder;

#[test]
fn every_method_is_driven() {
    let folder = TempFolder::new().unwrap();
    let server = Plane::start(folder.path());
    // A sandbox of its own, as the client makes one: the answer has every key, and the link for the person's password.
    let made = server.client(&server.first.as_ref().unwrap().agent).post("/v0/sandbox/keys", &Object::new()).unwrap();
    assert_eq!(made.status, 200, "{}", made.body);
    // A second server takes few calls: there the limit is met.
    let strict_folder = TempFolder::new().unwrap();
    let strict = Plane::start_with(strict_folder.path(), &["--key-calls-per-minute", "30"]);

    let python = PathBuf::from(env::var_os("PEERS").expect("PEERS names the folder that scripts/install-peers filled")).join("client/bin/python");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients/enruta_client.py");
    let run = Command::new(python)
        .arg(script)
        .envs([("BASE", &server.base), ("FIRST_START", &made.body)])
        .envs([("STRICT_BASE", &strict.base), ("STRICT_KEY", &strict.first.as_ref().unwrap().agent)])
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    println!("{out}");
    assert!(run.status.success(), "{out}{err}");
    assert!(out.trim_end().ends_with("answers checked"), "{out}{err}");
}
