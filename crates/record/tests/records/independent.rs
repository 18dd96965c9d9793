//! Libraries that we did not write, in another language, check what this crate seals, and find what is changed.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use lcp::{Object, Value, encoding, json};
use record::log::{Checkpoint, NodeId, Plan, RightEdge, Rows, Tile, entry_bundle, hash_tile};

use crate::story::{ORIGIN, Story, key, story, trusted};

/// Two full tiles and a partial one, and a partial one above them.
const SIZE: u64 = 600;
const OLD_SIZE: u64 = 300;

/// Runs the script; what it prints, and whether every check passed.
fn run(arguments: &[&Path]) -> (String, bool) {
    let python = env::var_os("PYTHON").expect("PYTHON names an interpreter that has independent/requirements.txt installed");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/independent/verify.py");
    let output = Command::new(python).arg(script).args(arguments).output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (printed, output.status.success())
}

fn write(path: PathBuf, bytes: impl AsRef<[u8]>) -> PathBuf {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, bytes).unwrap();
    path
}

fn checkpoint(story: &Story, size: u64) -> String {
    let hashes = RightEdge::nodes(size).iter().map(|id| story.nodes[id]).collect();
    let root = RightEdge::new(size, hashes).unwrap().root();
    Checkpoint { origin: ORIGIN.into(), size, root }.sign(&key()).unwrap()
}

/// The log as it is served, with what the script compares it to.
fn write_log(folder: &Path, story: &Story) {
    for level in 0..2 {
        let rows = SIZE >> (8 * level);
        for index in 0..rows.div_ceil(256) {
            let width = u16::try_from((rows - 256 * index).min(256)).unwrap();
            let tile = Tile { rows: Rows::Hashes(level), index, width };
            assert!(tile.is_within(SIZE));
            let NodeId { level, index } = tile.first();
            let hashes = (index..index + u64::from(width)).map(|index| story.nodes[&NodeId { level, index }]);
            write(folder.join(tile.to_string()), hash_tile(hashes));
            if level == 0 {
                let records = story.records[usize::try_from(index).unwrap()..].iter().take(width.into()).map(|record| record.hash);
                write(folder.join(Tile { rows: Rows::Entries, ..tile }.to_string()), entry_bundle(records));
            }
        }
    }
    write(folder.join("checkpoint"), checkpoint(story, SIZE));
    let texts: Vec<_> = story.records.iter().map(|record| &*record.text).collect();
    write(folder.join("records.txt"), texts.join("\n"));
    let proof = Plan::consistency(OLD_SIZE, SIZE).unwrap().proof(|id| story.nodes.get(&id).copied()).unwrap();
    let proof: Vec<Value> = proof.iter().map(|hash| encoding::base64(hash.bytes()).into()).collect();
    let consistency = Object::new().with("checkpoint", checkpoint(story, OLD_SIZE)).with("proof", proof);
    write(folder.join("consistency.json"), json::write(&consistency.into()));
}

#[test]
fn foreign_libraries_agree() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("independent");
    let _ = fs::remove_dir_all(&folder);
    let story = story(SIZE);
    let bundle = json::write(&story.bundle.to_json().into());
    let jwks = write(folder.join("jwks.json"), json::write(&trusted().to_json().into()));
    let path = write(folder.join("bundle.json"), &bundle);
    write_log(&folder.join("log"), &story);
    let (printed, passed) = run(&[&path, &jwks, &folder.join("log")]);
    assert!(passed, "{printed}");
    assert_eq!(printed.lines().filter(|line| line.starts_with("PASS ")).count(), 17, "{printed}");

    for (from, to, check) in [
        (r#"warm\\\""#, r#"warn\\\""#, "record"),
        (r#""kid":""#, r#""kid":"A"#, "record"),
        (r#""x":""#, r#""x":"A"#, "keys"),
        ("\\n600\\n", "\\n601\\n", "checkpoint"),
        (r#""index":2"#, r#""index":3"#, "inclusion"),
        (r#"\"name\":\"Small"#, r#"\"name\":\"small"#, "policy"),
        (r#""mandate":"e"#, r#""mandate":"f"#, "mandate"),
        (r#""atr":"U"#, r#""atr":"V"#, "contents"),
    ] {
        assert!(bundle.contains(from), "{from}");
        let changed = write(folder.join("changed.json"), bundle.replacen(from, to, 1));
        let (printed, passed) = run(&[&changed, &jwks]);
        assert!(!passed && printed.contains(&format!("FAIL {check}: ")), "{from}: {printed}");
    }

    // The log behind the bundle: a changed tile, a dropped record.
    let tile = folder.join("log/tile/0/001");
    let mut bytes = fs::read(&tile).unwrap();
    bytes[100] ^= 1;
    fs::write(&tile, &bytes).unwrap();
    let (printed, passed) = run(&[&path, &jwks, &folder.join("log")]);
    assert!(!passed && printed.contains("FAIL log tiles: "), "{printed}");
    let records = fs::read_to_string(folder.join("log/records.txt")).unwrap();
    let dropped: Vec<_> = records.lines().enumerate().filter(|(seq, _)| *seq != 17).map(|(_, text)| text).collect();
    fs::write(folder.join("log/records.txt"), dropped.join("\n")).unwrap();
    let (printed, passed) = run(&[&path, &jwks, &folder.join("log")]);
    assert!(!passed && printed.contains("FAIL log chain: "), "{printed}");
}
