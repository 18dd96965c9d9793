//! Every reader of foreign bytes holds its promises on its committed corpus.

use std::{fs, path::Path};

use conformance::readers::TARGETS;

#[test]
fn readers_hold_on_their_corpora() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    for (name, run) in TARGETS {
        let mut count = 0;
        for file in fs::read_dir(corpora.join(name)).unwrap_or_else(|error| panic!("{name}: {error}")) {
            run(&fs::read(file.unwrap().path()).unwrap());
            count += 1;
        }
        assert!(count >= 10, "{name} has {count} inputs");
    }
}
