//! The data folder: what lies in it, who may look, and its one owner.

use std::{
    fmt,
    fs::{self, DirBuilder, File, Permissions, TryLockError},
    io::{self, Read, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

use crate::config;

/// Nobody but the owner.
const PRIVATE: u32 = 0o700;

/// The bits of a mode that let others in.
const OTHERS: u32 = 0o077;

/// A folder that only its owner can look into.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFolder {
    path: PathBuf,
}

/// The right to open what is in the folder. It ends when this is dropped, or when the process ends in whatever way.
#[derive(Debug)]
pub struct Lock {
    folder: DataFolder,
    /// Its lock is this process's.
    _file: File,
}

/// Why there is no data folder to work with.
#[derive(Debug)]
pub enum FolderError {
    /// There is none.
    Missing(PathBuf),
    /// It holds something else.
    Foreign(PathBuf),
    /// Others may look into it.
    Open(PathBuf),
    /// Another process owns it: its id, if it can be read.
    Owned(PathBuf, Option<u32>),
    /// The system refuses.
    Io(PathBuf, io::Error),
}

impl FolderError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        |error| Self::Io(path.to_owned(), error)
    }
}

impl fmt::Display for FolderError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(path) => {
                write!(f, "there is no data folder at {}: start `chancery serve` once, or name the folder with --data", path.display())
            }
            Self::Foreign(path) => write!(f, "{} holds something else: name a new or an empty folder with --data", path.display()),
            Self::Open(path) => write!(f, "others may look into {0}: chmod 700 {0}, and think about who did", path.display()),
            Self::Owned(path, Some(pid)) => write!(f, "process {pid} owns the data folder {}: stop it first", path.display()),
            Self::Owned(path, None) => write!(f, "another process owns the data folder {}: stop it first", path.display()),
            Self::Io(path, error) => write!(f, "{}: {error}", path.display()),
        }
    }
}

impl std::error::Error for FolderError {}

impl DataFolder {
    /// The folder of that path, made if there is none.
    ///
    /// # Errors
    /// If it holds something else, if others may look into it, or if the system refuses.
    pub fn make(path: &Path) -> Result<Self, FolderError> {
        DirBuilder::new().recursive(true).mode(PRIVATE).create(path).map_err(FolderError::io(path))?;
        let folder = Self { path: path.canonicalize().map_err(FolderError::io(path))? };
        if folder.is_begun() {
            folder.check_private()?;
            return Ok(folder);
        }
        for entry in fs::read_dir(path).map_err(FolderError::io(path))? {
            if entry.map_err(FolderError::io(path))?.file_name() != config::FILE {
                return Err(FolderError::Foreign(folder.path));
            }
        }
        fs::set_permissions(&folder.path, Permissions::from_mode(PRIVATE)).map_err(FolderError::io(path))?;
        Ok(folder)
    }

    /// The folder of that path, which must be there.
    ///
    /// # Errors
    /// As [`Self::make`], or if there is none.
    pub fn find(path: &Path) -> Result<Self, FolderError> {
        let folder = Self { path: path.canonicalize().map_err(|_| FolderError::Missing(path.to_owned()))? };
        if !folder.is_begun() {
            return Err(FolderError::Missing(folder.path));
        }
        folder.check_private()?;
        Ok(folder)
    }

    fn is_begun(&self) -> bool {
        self.lock_file().exists()
    }

    fn check_private(&self) -> Result<(), FolderError> {
        let mode = fs::metadata(&self.path).map_err(FolderError::io(&self.path))?.permissions().mode();
        if mode & OTHERS == 0 { Ok(()) } else { Err(FolderError::Open(self.path.clone())) }
    }

    /// Takes the folder for this process.
    ///
    /// # Errors
    /// [`FolderError::Owned`] while another process, or another lock of this one, has it.
    pub fn lock(&self) -> Result<Lock, FolderError> {
        let path = self.lock_file();
        let open = File::options().read(true).write(true).create(true).truncate(false).mode(0o600).open(&path);
        let mut file = open.map_err(FolderError::io(&path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(FolderError::Owned(self.path.clone(), self.owner())),
            Err(TryLockError::Error(error)) => return Err(FolderError::Io(path, error)),
        }
        let named = file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id()));
        named.map_err(FolderError::io(&path))?;
        Ok(Lock { folder: self.clone(), _file: file })
    }

    /// The process that took the folder last.
    fn owner(&self) -> Option<u32> {
        let mut text = String::new();
        File::open(self.lock_file()).ok()?.take(32).read_to_string(&mut text).ok()?;
        text.trim().parse().ok()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The database.
    pub fn database(&self) -> PathBuf {
        self.path.join("chancery.db")
    }

    /// The key under which secrets in the database are encrypted.
    pub fn master_key(&self) -> PathBuf {
        self.path.join("master.key")
    }

    /// The file whose lock tells the owner.
    fn lock_file(&self) -> PathBuf {
        self.path.join("lock")
    }

    /// The socket at which the owner answers other processes of the same user.
    pub fn socket(&self) -> PathBuf {
        self.path.join("control.sock")
    }
}

impl Lock {
    /// The folder that it is of.
    pub fn folder(&self) -> &DataFolder {
        &self.folder
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::temp_folder::TempFolder;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_new_folder_is_private() {
        let temporary = TempFolder::new().unwrap();
        let path = temporary.path().join("deep/data");
        assert!(matches!(DataFolder::find(&path), Err(FolderError::Missing(_))));
        let folder = DataFolder::make(&path).unwrap();
        assert_eq!(mode(&path), 0o700);
        assert!(matches!(DataFolder::find(&path), Err(FolderError::Missing(_))));
        drop(folder.lock().unwrap());
        assert_eq!(mode(&path.join("lock")), 0o600);
        assert_eq!(DataFolder::find(&path).unwrap(), folder);
    }

    #[test]
    fn an_empty_folder_is_closed_and_a_foreign_one_left_alone() {
        let temporary = TempFolder::new().unwrap();
        let path = temporary.path().join("data");
        fs::create_dir(&path).unwrap();
        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        fs::write(path.join(config::FILE), "").unwrap();
        DataFolder::make(&path).unwrap();
        assert_eq!(mode(&path), 0o700);

        fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        fs::write(path.join("diary.txt"), "").unwrap();
        assert!(matches!(DataFolder::make(&path), Err(FolderError::Foreign(_))));
        assert_eq!(mode(&path), 0o755);
        fs::write(temporary.path().join("file"), "").unwrap();
        assert!(matches!(DataFolder::make(&temporary.path().join("file")), Err(FolderError::Io(..))));
    }

    #[test]
    fn a_folder_that_was_opened_to_others_is_refused() {
        let temporary = TempFolder::new().unwrap();
        let folder = DataFolder::make(temporary.path()).unwrap();
        drop(folder.lock().unwrap());
        for open in [0o750, 0o701, 0o777] {
            fs::set_permissions(temporary.path(), Permissions::from_mode(open)).unwrap();
            assert!(matches!(DataFolder::make(temporary.path()), Err(FolderError::Open(_))), "{open:o}");
            assert!(matches!(DataFolder::find(temporary.path()), Err(FolderError::Open(_))), "{open:o}");
        }
    }

    #[test]
    fn one_owner_at_a_time() {
        let temporary = TempFolder::new().unwrap();
        let folder = DataFolder::make(temporary.path()).unwrap();
        let lock = folder.lock().unwrap();
        assert_eq!(lock.folder(), &folder);
        match folder.lock() {
            Err(error @ FolderError::Owned(_, Some(pid))) => {
                assert_eq!(pid, std::process::id());
                assert!(error.to_string().contains(&pid.to_string()));
            }
            other => panic!("{other:?}"),
        }
        drop(lock);
        drop(folder.lock().unwrap());
    }
}
