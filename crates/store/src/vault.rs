//! Secrets at rest: sealed under a master key that is kept in a file of its own, outside the database.

use std::{
    fmt, fs,
    io::{self, Read, Write},
    path::Path,
};

use chacha20poly1305::{
    Key, KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use zeroize::{Zeroize, Zeroizing};

const KEY: usize = 32;
const NONCE: usize = 24;

/// Seals and opens secrets with XChaCha20-Poly1305. The key is wiped from memory with the vault.
pub struct Vault(Zeroizing<[u8; KEY]>);

/// Why a vault does not open, or does not open a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VaultError {
    /// The key file could not be read or written.
    File(io::ErrorKind),
    /// Others than its owner may read or write the key file.
    FileMode,
    /// The key file does not hold 32 bytes.
    FileLength,
    /// The operating system gave no random bytes.
    Random,
    /// The secret was sealed with another key or for another place, or was changed.
    Sealed,
}

impl Vault {
    /// The vault of that key.
    pub fn new(key: [u8; KEY]) -> Self {
        Self(Zeroizing::new(key))
    }

    /// Makes the key file, with a fresh key and for its owner alone. It must not be there yet.
    pub fn create(path: &Path) -> Result<Self, VaultError> {
        let mut key = Zeroizing::new([0; KEY]);
        getrandom::fill(&mut *key).map_err(|_| VaultError::Random)?;
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        file.write_all(&*key)?;
        // Nothing is sealed with a key that could still be lost.
        file.sync_all()?;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::File::open(folder)?.sync_all()?;
        }
        Ok(Self(key))
    }

    /// Reads the key file, which must hold 32 bytes and be for its owner alone.
    fn open_file(path: &Path) -> Result<Self, VaultError> {
        let mut file = fs::File::open(path)?;
        let about = file.metadata()?;
        #[cfg(unix)]
        if std::os::unix::fs::MetadataExt::mode(&about) & 0o177 != 0 {
            return Err(VaultError::FileMode);
        }
        if !about.is_file() || about.len() != KEY as u64 {
            return Err(VaultError::FileLength);
        }
        let mut key = Zeroizing::new([0; KEY]);
        file.read_exact(&mut *key)?;
        Ok(Self(key))
    }

    /// Reads the key file, or makes it if it is not there.
    pub fn open_or_create(path: &Path) -> Result<Self, VaultError> {
        match Self::open_file(path) {
            Err(VaultError::File(io::ErrorKind::NotFound)) => Self::create(path),
            vault => vault,
        }
    }

    /// Seals a secret for one place, such as `requests/pr_...`: the nonce, 24 bytes, before the ciphertext and its tag.
    pub fn seal(&self, context: &str, plaintext: &[u8]) -> Result<Vec<u8>, VaultError> {
        let mut nonce = [0; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| VaultError::Random)?;
        let payload = Payload { msg: plaintext, aad: context.as_bytes() };
        let sealed = self.cipher().encrypt(&XNonce::from(nonce), payload).map_err(|_| VaultError::Sealed)?;
        Ok([&nonce[..], &sealed].concat())
    }

    /// Opens a secret that was sealed for that place.
    pub fn open(&self, context: &str, sealed: &[u8]) -> Result<Zeroizing<Vec<u8>>, VaultError> {
        let (nonce, ciphertext) = sealed.split_first_chunk::<NONCE>().ok_or(VaultError::Sealed)?;
        let payload = Payload { msg: ciphertext, aad: context.as_bytes() };
        self.cipher().decrypt(&XNonce::from(*nonce), payload).map(Zeroizing::new).map_err(|_| VaultError::Sealed)
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        let mut key = Key::from(*self.0);
        let cipher = XChaCha20Poly1305::new(&key);
        key.zeroize();
        cipher
    }
}

impl VaultError {
    /// A stable code.
    pub fn code(self) -> &'static str {
        match self {
            Self::File(_) => "vault_file",
            Self::FileMode => "vault_file_mode",
            Self::FileLength => "vault_file_length",
            Self::Random => "vault_random",
            Self::Sealed => "vault_sealed",
        }
    }
}

impl From<io::Error> for VaultError {
    fn from(error: io::Error) -> Self {
        Self::File(error.kind())
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Vault(…)")
    }
}

impl fmt::Display for VaultError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(kind) => write!(f, "the master key file could not be read or written ({kind}): check its path and permissions"),
            Self::FileMode => f.write_str("others may read the master key file: set its mode to 0600, and consider the secrets known"),
            Self::FileLength => f.write_str("the master key file does not hold 32 bytes: restore it from a backup"),
            Self::Random => f.write_str("the operating system gave no random bytes: try again"),
            Self::Sealed => f.write_str(
                "a stored secret does not open: the master key file is another one, or the secret was changed; restore both from one backup",
            ),
        }
    }
}

impl std::error::Error for VaultError {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Folder;

    #[test]
    fn what_is_sealed_opens_at_its_place_alone() {
        let vault = Vault::new([7; 32]);
        let sealed = vault.seal("requests/pr_1", b"secret").unwrap();
        assert_eq!(sealed.len(), 24 + 6 + 16);
        assert_eq!(*vault.open("requests/pr_1", &sealed).unwrap(), b"secret");
        assert_eq!(vault.open("requests/pr_2", &sealed), Err(VaultError::Sealed));
        assert_eq!(Vault::new([8; 32]).open("requests/pr_1", &sealed), Err(VaultError::Sealed));
        for place in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert_eq!(vault.open("requests/pr_1", &changed), Err(VaultError::Sealed), "{place}");
            assert_eq!(vault.open("requests/pr_1", &sealed[..place]), Err(VaultError::Sealed), "{place}");
        }
        assert_ne!(vault.seal("requests/pr_1", b"secret").unwrap(), sealed, "each has a nonce of its own");
        assert_eq!(format!("{vault:?}"), "Vault(…)");
    }

    #[test]
    fn known_answer() {
        // draft-irtf-cfrg-xchacha-03, appendix A.3.1.
        let key: [u8; 32] = std::array::from_fn(|place| 0x80 + u8::try_from(place).unwrap());
        let text = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, sunscreen would be it.";
        let aad = lcp::encoding::from_bare_hex("50515253c0c1c2c3c4c5c6c7").unwrap();
        let nonce: [u8; 24] = std::array::from_fn(|place| 0x40 + u8::try_from(place).unwrap());
        let sealed = Vault::new(key).cipher().encrypt(&XNonce::from(nonce), Payload { msg: text, aad: &aad }).unwrap();
        assert_eq!(lcp::encoding::bare_hex(&sealed[sealed.len() - 16..]), "c0875924c1c7987947deafd8780acf49");
    }

    #[cfg(unix)]
    #[test]
    fn the_key_file_is_for_its_owner_alone() {
        use std::os::unix::fs::PermissionsExt;

        let folder = Folder::new();
        let path = folder.path("master.key");
        let sealed = Vault::open_or_create(&path).unwrap().seal("a", b"b").unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(fs::read(&path).unwrap().len(), 32);
        assert_eq!(*Vault::open_or_create(&path).unwrap().open("a", &sealed).unwrap(), b"b");
        assert_eq!(Vault::create(&path).unwrap_err(), VaultError::File(io::ErrorKind::AlreadyExists));
        for mode in [0o640, 0o604, 0o620, 0o700] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(Vault::open_or_create(&path).unwrap_err(), VaultError::FileMode);
        }
        fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
        assert!(Vault::open_file(&path).is_ok());
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        for length in [0, 31, 33] {
            fs::write(&path, vec![1; length]).unwrap();
            assert_eq!(Vault::open_or_create(&path).unwrap_err(), VaultError::FileLength);
        }
        assert_eq!(Vault::open_file(&folder.path("none")).unwrap_err(), VaultError::File(io::ErrorKind::NotFound));
    }
}
