//! The gate beside the public Python package: the same rows, in process, in one run; and the server's start.
//!
//! `cargo bench -p conformance`. Needs python3; the package is installed with pip into target/oracle.
#![allow(clippy::unwrap_used, clippy::expect_used, missing_docs)] // a bench that cannot run fails by panicking

use std::{
    collections::BTreeMap,
    fs,
    hint::black_box,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use conformance::{
    oracle,
    row::{self, Row},
    scripted::{Serves, Still},
};
use criterion::Criterion;
use lcp::{Hash, Object, Value, encoding, json};
use terms::Gate;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = oracle::environment(&root.join("target/oracle")).expect("the Python package");
    let cases = cases(&root.join("vectors"));
    let mut criterion = Criterion::default().sample_size(20).warm_up_time(Duration::from_millis(150)).measurement_time(Duration::from_millis(500));
    for case in &cases {
        ours(&mut criterion, case);
    }
    criterion.bench_function("sha256/1-mib", |bencher| {
        let data = vec![0; 1 << 20];
        bencher.iter(|| Hash::of(black_box(&data)));
    });
    let theirs = theirs(&python, &cases);

    println!("\n{:<52} {:>12} {:>12} {:>9}", "per call", "here", "reference", "ratio");
    for (name, reference) in &theirs {
        let here = median(&root, name);
        println!("{name:<52} {:>12} {:>12} {:>8.1}x", nanoseconds(here), nanoseconds(*reference), reference / here);
    }
    println!("(sha256: the reference hashes with OpenSSL; a ratio of 0.87 is 1.15 times its time)\n");
    start(&root, &python);
}

/// One operation of one pairing's basic flow.
struct Case {
    name: String,
    op: String,
    row: Row,
    body: Vec<u8>,
}

fn cases(folder: &Path) -> Vec<Case> {
    let mut cases: BTreeMap<String, Case> = BTreeMap::new();
    let hand_made = |file: &PathBuf| !file.to_string_lossy().contains("-mutants");
    for file in row::files(folder).unwrap().into_iter().filter(hand_made) {
        for line in row::text(&file).unwrap().lines() {
            let row = Row::read(line).unwrap();
            let op = row.op().to_owned();
            let served = row.get("network").and_then(|network| network.as_array()?.first()?.get("body")?.as_str());
            let atr = served.or_else(|| row.argument("atr")?.as_str()).and_then(encoding::from_base64);
            if !["confirm", "finish", "check"].contains(&&*op)
                || row.expect().get("decline").is_some()
                || row.expect().get("next").is_some()
                || terms::pairing(row.pairing_argument()).is_err()
            {
                continue;
            }
            let name = format!("{op}/{}", row.pairing_argument());
            if let Some(body) = atr {
                cases.entry(name.clone()).or_insert(Case { name, op, row, body });
            }
        }
    }
    cases.into_values().collect()
}

fn ours(criterion: &mut Criterion, case: &Case) {
    let pairing = terms::pairing(case.row.pairing_argument()).unwrap();
    let argument = |name| case.row.argument(name).unwrap_or(&Value::Null);
    criterion.bench_function(&case.name, |bencher| match &*case.op {
        "confirm" => {
            let gate = Gate::new(Serves { status: 200, headers: Vec::new(), body: case.body.clone() }, Still);
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            let account = argument("account").as_str().unwrap();
            let call = || runtime.block_on(gate.confirm(pairing, black_box(argument("document")), account, case.row.argument("inputs")));
            assert!(call().is_ok());
            bencher.iter(call);
        }
        "finish" => bencher.iter(|| terms::finish(pairing, &case.body, black_box(argument("chosen")), argument("signature")).unwrap()),
        _ => bencher.iter(|| terms::check(pairing, &case.body, black_box(argument("presented")), case.row.argument("landed")).unwrap()),
    });
}

fn theirs(python: &Path, cases: &[Case]) -> BTreeMap<String, f64> {
    let case = |name: &str, op: &str, args: &Value, body: &[u8]| {
        Value::from(Object::new().with("name", name).with("op", op).with("args", args).with("body", encoding::base64(body)))
    };
    let mut asked: Vec<Value> = cases.iter().map(|held| case(&held.name, &held.op, held.row.get("args").unwrap(), &held.body)).collect();
    asked.push(case("sha256/1-mib", "sha256", &Object::new().into(), b""));
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/reference.py");
    let mut child = Command::new(python).arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(json::write(&asked.into()).as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let times = json::parse_bytes(output.stdout.trim_ascii(), 2).unwrap();
    let times = times.as_object().unwrap().iter();
    times.map(|(name, value)| (name.as_str().unwrap().to_owned(), json::write(value).parse().unwrap())).collect()
}

/// The median that the harness wrote down.
fn median(root: &Path, name: &str) -> f64 {
    let file = root.join("target/criterion").join(name.replacen('/', "_", usize::MAX)).join("new/estimates.json");
    let estimates = json::parse_bytes(&fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display())), 8).unwrap();
    json::write(estimates.get("median").and_then(|median| median.get("point_estimate")).unwrap()).parse().unwrap()
}

fn nanoseconds(time: f64) -> String {
    if time < 1e3 {
        format!("{time:.0} ns")
    } else if time < 1e6 {
        format!("{:.2} us", time / 1e3)
    } else {
        format!("{:.2} ms", time / 1e6)
    }
}

/// How long the server takes from its start to the answer to `tools/list`, and how much memory it then holds.
fn start(root: &Path, python: &Path) {
    let built = Command::new(env!("CARGO")).args(["build", "--release", "--quiet", "-p", "terms-mcp"]).current_dir(root).status().unwrap();
    assert!(built.success());
    let binary = root.join("target/release/terms-mcp");
    let (mut times, mut memory) = (Vec::new(), Vec::new());
    for _ in 0..21 {
        let begun = Instant::now();
        let mut server = Command::new(&binary).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut ask = server.stdin.take().unwrap();
        let mut answers = BufReader::new(server.stdout.take().unwrap()).lines();
        let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
        writeln!(ask, "{hello}").unwrap();
        answers.next().unwrap().unwrap();
        writeln!(ask, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#).unwrap();
        writeln!(ask, r#"{{"jsonrpc":"2.0","id":2,"method":"tools/list"}}"#).unwrap();
        assert!(answers.next().unwrap().unwrap().contains("atr_confirm"));
        times.push(begun.elapsed());
        memory.push(resident(server.id()));
        drop(ask);
        server.wait().unwrap();
    }
    times.sort();
    memory.sort_unstable();
    let mut imports: Vec<Duration> = (0..7)
        .map(|_| {
            let begun = Instant::now();
            assert!(Command::new(python).args(["-c", "import integraledger_terms"]).status().unwrap().success());
            begun.elapsed()
        })
        .collect();
    imports.sort();
    let (here, theirs) = (times[times.len() / 2], imports[imports.len() / 2]);
    println!(
        "start to the answer of tools/list: {here:?}, median of {}; the reference's import alone: {theirs:?}, {:.1}x",
        times.len(),
        theirs.as_secs_f64() / here.as_secs_f64()
    );
    println!("resident then: {} KiB", memory[memory.len() / 2]);
}

fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(PathBuf::from(format!("/proc/{process}/status"))).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").trim().parse().unwrap()
}
