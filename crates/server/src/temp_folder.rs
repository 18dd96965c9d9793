//! A folder for a while.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use lcp::encoding;

/// A new folder of mode 0700 in the system's folder for such, which goes away with all it holds when this is dropped.
#[derive(Debug)]
pub struct TempFolder(PathBuf);

impl TempFolder {
    /// Makes one.
    ///
    /// # Errors
    /// If the system gives no randomness or no folder.
    pub fn new() -> io::Result<Self> {
        let mut name = [0; 12];
        getrandom::fill(&mut name).map_err(io::Error::other)?;
        let path = env::temp_dir().join(format!("chancery-{}", encoding::base64url(&name)));
        let mut builder = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&path)?;
        Ok(Self(path))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        // Nobody is there to be told, and the system clears its folder in time.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_away_with_what_it_holds() {
        let folder = TempFolder::new().unwrap();
        let path = folder.path().to_owned();
        fs::create_dir(path.join("inner")).unwrap();
        fs::write(path.join("inner/file"), "text").unwrap();
        assert_ne!(TempFolder::new().unwrap().path(), path);
        drop(folder);
        assert!(!path.exists());
    }
}
