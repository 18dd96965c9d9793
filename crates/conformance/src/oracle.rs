//! Asks the public Python package for fresh rows: seeded mutants of recorded ones, answered by the package itself.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process::Command,
};

/// The package and the wallet library its rows are signed with.
const PACKAGES: [&str; 2] = ["integraledger-terms==0.4.0", "eth-account==0.14.0"];

/// The scripts that drive the package from outside, and the tables they read.
const SCRIPTS: [(&str, &str); 4] = [
    ("oracle.py", include_str!("../oracle/oracle.py")),
    ("mutate.py", include_str!("../oracle/mutate.py")),
    ("bigints/gen_mpp.txt", include_str!("../oracle/bigints/gen_mpp.txt")),
    ("bigints/gen_x402_rails_cardano_casper_ccd.txt", include_str!("../oracle/bigints/gen_x402_rails_cardano_casper_ccd.txt")),
];

/// Makes `rows` mutants of each row file below `from` with this seed, and returns the folder that holds them.
///
/// The package is installed once, with pip, into a virtual environment inside `cache`.
pub fn mutants(cache: &Path, from: &Path, seed: u64, rows: u64) -> io::Result<PathBuf> {
    let python = environment(cache)?;
    let scripts = cache.join("scripts");
    for (name, text) in SCRIPTS {
        let file = scripts.join(name);
        fs::create_dir_all(file.parent().unwrap_or(&scripts))?;
        fs::write(file, text)?;
    }
    let out = cache.join(format!("seed-{seed}"));
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    let mut mutate = Command::new(python);
    mutate.current_dir(&scripts).arg("mutate.py").args(["--seed", &seed.to_string(), "--rows", &rows.to_string()]);
    run(mutate.arg("--in").arg(fs::canonicalize(from)?).arg("--out").arg(&out))?;
    Ok(out)
}

/// The interpreter of an environment that has the package.
pub fn environment(cache: &Path) -> io::Result<PathBuf> {
    fs::create_dir_all(cache)?;
    let environment = fs::canonicalize(cache)?.join("python");
    let python = environment.join("bin/python");
    let complete = environment.join("complete");
    if !complete.exists() {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&environment))?;
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(PACKAGES))?;
        fs::write(complete, PACKAGES.join("\n"))?;
    }
    Ok(python)
}

fn run(command: &mut Command) -> io::Result<()> {
    let status = command
        .stdout(io::stderr())
        .status()
        .map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", command.get_program().display())))?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("{} failed with {status}", command.get_program().display()))) }
}
