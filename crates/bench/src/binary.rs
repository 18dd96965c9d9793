//! The release binary as a process of its own, with the limits of calls off.

use std::{
    env,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

/// A process that serves; it ends when this is dropped.
pub(crate) struct Binary {
    pub(crate) base: String,
    child: Child,
}

/// The release binary, built beside this program.
pub(crate) fn build() -> PathBuf {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo).args(["build", "--release", "--quiet", "-p", "server", "--bin", "chancery"]).status().unwrap();
    assert!(built.success());
    env::current_exe().unwrap().with_file_name("chancery")
}

impl Binary {
    /// Starts `chancery serve` on the folder, and waits until it says that it serves.
    pub(crate) fn start(program: &Path, folder: &Path) -> Self {
        let mut child = Command::new(program)
            .args(["serve", "--listen", "127.0.0.1:0", "--key-calls-per-minute", "0", "--address-calls-per-minute", "0", "--data"])
            .arg(folder)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        let mut base = None;
        for line in lines.by_ref() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["at", url] => base = Some((*url).to_owned()),
                ["seller", ..] | ["A", "new", "key:", ..] => break,
                _ => {}
            }
        }
        // What is still printed must find its reader.
        std::thread::spawn(move || lines.for_each(drop));
        Self { base: base.unwrap(), child }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Binary {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
