//! Whatever was answered survives the loss of power. A layer below the database keeps what was synced, and nothing else:
//! the server is killed between two answers, its files are put back to what the layer kept, and every answer must be there.
//! Without the syncs (`synchronous` off) the same test finds answers lost.
//!
//! The process that is killed is this program itself, with `play` as its argument.
#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests fail by panicking

mod plane;

use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Command, ExitCode, Stdio},
};

use control::{access::Role, request::Form};
use lcp::{Object, Value, json};
use plane::{purchase, text};
use server::{
    Caller, Service,
    service::{Paths, ServiceOptions},
    temp_folder::TempFolder,
};

/// How many requests are answered before the power goes.
const ANSWERS: usize = 40;

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    if let [play_it, folder, durable] = arguments.as_slice()
        && play_it == "play"
    {
        return runtime().block_on(play(Path::new(folder), durable == "durable"));
    }
    test();
    ExitCode::SUCCESS
}

fn test() {
    let lost = lost_answers(true);
    assert_eq!(lost, 0, "with syncs nothing that was answered is lost");
    println!("test whatever_was_answered_survives ... ok");
    let lost = lost_answers(false);
    assert!(lost > 0, "without syncs the layer must find answers lost, or it shows nothing");
    println!("test without_syncs_answers_are_lost ({lost} of {ANSWERS}) ... ok");
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap()
}

async fn open(folder: &Path, is_durable: bool) -> Service {
    let paths = Paths { database: folder.join("chancery.db"), master_key: folder.join("master.key") };
    Service::open(&paths, ServiceOptions { is_durable, ..ServiceOptions::sandbox("http://127.0.0.1") }).await.unwrap()
}

/// Asks to pay again and again, and says each answer once it is given.
async fn play(folder: &Path, is_durable: bool) -> ExitCode {
    let service = open(folder, is_durable).await;
    let first = service.first_start().await.unwrap().unwrap();
    let caller = service.authenticate(&first.agent_key).await.unwrap();
    say(&format!("key {}", first.agent_key));
    for number in 0.. {
        let answered = service.request_payment(&caller, &body(number), Form::Rest, Some(&format!("key-{number}"))).await.unwrap();
        say(&format!("answer {}", json::write(&answered.view.into())));
    }
    ExitCode::SUCCESS
}

fn body(number: usize) -> Value {
    purchase("1.00", &format!("purchase {number}")).into()
}

fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").unwrap();
    out.flush().unwrap();
}

/// Plays until enough was answered, cuts the power, and counts the answers that are not there any more.
fn lost_answers(is_durable: bool) -> usize {
    let (folder, shadow) = (TempFolder::new().unwrap(), TempFolder::new().unwrap());
    let layer = shadow.path().join("shadow.so");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/power_loss/shadow.c");
    let compiled = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o"]).arg(&layer).arg(source).status().unwrap();
    assert!(compiled.success());
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["play", folder.path().to_str().unwrap(), if is_durable { "durable" } else { "not" }])
        .env("LD_PRELOAD", &layer)
        .env("WATCHED", folder.path())
        .env("SHADOW", shadow.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let key = lines.next().unwrap().strip_prefix("key ").unwrap().to_owned();
    let mut answers: Vec<String> = lines.by_ref().take(ANSWERS).map(|line| line.strip_prefix("answer ").unwrap().to_owned()).collect();
    child.kill().unwrap();
    child.wait().unwrap();
    // What it had said before it was gone counts as well.
    answers.extend(lines.filter_map(|line| line.strip_prefix("answer ").map(str::to_owned)).filter(|answer| json::parse(answer, 64).is_ok()));
    assert!(answers.len() >= ANSWERS);
    lose_power(folder.path(), shadow.path());
    runtime().block_on(missing(folder.path(), &key, &answers))
}

/// Each file is put back to what was synced of it; one that was never synced is gone.
fn lose_power(folder: &Path, shadow: &Path) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let kept = shadow.join(path.file_name().unwrap());
        if kept.exists() {
            fs::copy(kept, path).unwrap();
        } else {
            fs::remove_file(path).unwrap();
        }
    }
}

/// How many of the answers the store no longer gives.
async fn missing(folder: &Path, key: &str, answers: &[String]) -> usize {
    if !folder.join("chancery.db").exists() || !folder.join("master.key").exists() {
        return answers.len();
    }
    let paths = Paths { database: folder.join("chancery.db"), master_key: folder.join("master.key") };
    let Ok(service) = Service::open(&paths, ServiceOptions::sandbox("http://127.0.0.1")).await else { return answers.len() };
    let Ok(caller) = service.authenticate(key).await else { return answers.len() };
    assert_eq!(caller.role, Role::Agent);
    let mut missing = 0;
    for (number, answer) in answers.iter().enumerate() {
        if !is_there(&service, &caller, number, answer).await {
            missing += 1;
        }
    }
    missing
}

async fn is_there(service: &Service, caller: &Caller, number: usize, answer: &str) -> bool {
    let told: Object = json::parse(answer, 64).unwrap().as_object().unwrap().clone();
    let id = text(&told.clone().into(), &["id"]).to_owned();
    let replayed = service.request_payment(caller, &body(number), Form::Rest, Some(&format!("key-{number}"))).await.unwrap();
    replayed.replayed && json::write(&replayed.view.into()) == answer && service.payment_request(caller, &id, 0).await.is_ok()
}
