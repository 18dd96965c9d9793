//! A wallet for development: one key in this machine's memory or in a file. It speaks `docs/signer-protocol.md`.

use std::{
    fs::{File, OpenOptions},
    io::{self, ErrorKind, Read, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
};

use k256::{
    ecdsa::{SigningKey, VerifyingKey},
    elliptic_curve::zeroize::Zeroizing,
};
use lcp::{Object, Value, encoding, json};
use sha3::{Digest, Keccak256};
use tokio::io::{AsyncBufRead, AsyncWrite, AsyncWriteExt};

use crate::{
    signer_process::read_line,
    typed_data::{digest, members},
};

/// The chain whose account it names unless told another: Base Sepolia.
pub(crate) const DEFAULT_CHAIN: u64 = 84_532;

/// Most requests of a batch.
const MAX_BATCH: usize = 32;

/// A secp256k1 key, and the account it controls on one chain.
///
/// The key leaves this value only to its file: this has no `Debug`, no error holds the key, and dropping wipes it.
pub(crate) struct DevWallet {
    key: SigningKey,
    chain: u64,
}

impl DevWallet {
    /// A wallet of a new key.
    pub(crate) fn generate(chain: u64) -> io::Result<Self> {
        let mut secret = Zeroizing::new([0; 32]);
        getrandom::fill(&mut *secret).map_err(io::Error::other)?;
        // Of 2^128 draws, less than one is no key.
        Self::of(&*secret, chain).ok_or_else(|| io::Error::other("drew no key"))
    }

    /// A wallet of the key in a file that only its owner may read. A file that does not exist is made, with a new key.
    pub(crate) fn open(file: &Path, chain: u64) -> Result<Self, String> {
        let about = |error: io::Error| format!("{}: {error}", file.display());
        let opened = match File::open(file) {
            Ok(opened) => opened,
            Err(error) if error.kind() == ErrorKind::NotFound => return Self::create(file, chain).map_err(about),
            Err(error) => return Err(about(error)),
        };
        let metadata = opened.metadata().map_err(about)?;
        if !metadata.is_file() || metadata.mode() & 0o077 != 0 {
            return Err(format!("{}: a key file must be a file that only its owner may read (chmod 600)", file.display()));
        }
        let mut text = Zeroizing::new(String::with_capacity(256));
        opened.take(128).read_to_string(&mut text).map_err(about)?;
        let digits = text.trim_ascii_end();
        let mut secret = Zeroizing::new([0; 32]);
        encoding::hex_into(digits.strip_prefix("0x").unwrap_or(digits), &mut *secret)
            .and_then(|()| Self::of(&*secret, chain))
            .ok_or_else(|| format!("{}: holds no secp256k1 key of 64 hex digits", file.display()))
    }

    fn create(file: &Path, chain: u64) -> io::Result<Self> {
        let wallet = Self::generate(chain)?;
        let secret = Zeroizing::new(wallet.key.to_bytes());
        let text = Zeroizing::new(encoding::hex(&secret) + "\n");
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(file)?.write_all(text.as_bytes())?;
        Ok(wallet)
    }

    fn of(secret: &[u8], chain: u64) -> Option<Self> {
        SigningKey::from_slice(secret).ok().map(|key| Self { key, chain })
    }

    /// The account, CAIP-10, its address with the ERC-55 checksum.
    pub(crate) fn account(&self) -> String {
        format!("eip155:{}:{}", self.chain, address_of(self.key.verifying_key()))
    }

    /// Signs a request of kind `eip712`, or a `batch` of such; refuses every other with a sentence.
    pub(crate) fn sign(&self, request: &Value) -> Result<Value, String> {
        if request.get("kind").and_then(Value::as_str) != Some("batch") {
            return self.sign_one(request);
        }
        let [_, requests] = members(request, ["kind", "requests"])?;
        let requests = requests.as_array().filter(|requests| requests.len() <= MAX_BATCH).ok_or("not a list of requests, or too long")?;
        Ok(requests.iter().map(|request| self.sign_one(request)).collect::<Result<Vec<_>, _>>()?.into())
    }

    fn sign_one(&self, request: &Value) -> Result<Value, String> {
        if request.get("kind").and_then(Value::as_str) != Some("eip712") {
            return Err("the development wallet signs only eip712 requests".to_owned());
        }
        let [_, typed_data] = members(request, ["kind", "typedData"])?;
        // RFC 6979, the lower of the two values of s.
        let (signature, recovery) = self.key.sign_prehash_recoverable(&digest(typed_data)?);
        let mut bytes = signature.to_vec();
        bytes.push(27 + u8::from(recovery.is_y_odd()));
        Ok(encoding::hex(&bytes).into())
    }

    /// Answers calls line by line, until there are no more.
    pub(crate) async fn serve(&self, mut calls: impl AsyncBufRead + Unpin, mut answers: impl AsyncWrite + Unpin) -> Result<(), String> {
        let io = |error: io::Error| error.to_string();
        while let Some(line) = read_line(&mut calls).await.map_err(io)? {
            let call = json::parse_bytes(&line, json::MAX_DEPTH).map_err(|error| format!("a call that is {error}"))?;
            let id = call.get("id").and_then(Value::as_safe_unsigned).ok_or("a call without an id")?;
            let outcome = match (call.get("method").and_then(Value::as_str), call.get("request")) {
                (Some("account"), None) => Ok(("account", self.account().into())),
                (Some("sign"), Some(request)) => self.sign(request).map(|answer| ("answer", answer)),
                _ => Err("no such call".to_owned()),
            };
            let (name, value) = outcome.unwrap_or_else(|sentence| ("error", sentence.into()));
            let answer = json::write(&Object::new().with("id", id).with(name, value).into()) + "\n";
            answers.write_all(answer.as_bytes()).await.map_err(io)?;
            answers.flush().await.map_err(io)?;
        }
        Ok(())
    }
}

/// The address of a public key, with the ERC-55 checksum.
pub(crate) fn address_of(key: &VerifyingKey) -> String {
    let point = key.to_sec1_point(false);
    let hash = Keccak256::digest(point.as_bytes().get(1..).unwrap_or_default());
    let digits = encoding::hex(hash.get(12..).unwrap_or_default());
    let digits = digits.trim_start_matches("0x");
    let checksum = encoding::hex(&Keccak256::digest(digits));
    let cased = digits.chars().zip(checksum.chars().skip(2)).map(|(digit, check)| if check >= '8' { digit.to_ascii_uppercase() } else { digit });
    format!("0x{}", cased.collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt, path::PathBuf};

    use super::*;

    /// The first key of the Anvil development chain, known to everyone.
    const ANVIL: &str = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

    // An EIP-3009 request, and what eth-account 0.14 signs for it with that key.
    const REQUEST: &str = r#"{"kind":"eip712","typedData":{
        "domain":{"name":"USDC","version":"2","chainId":84532,"verifyingContract":"0x036CbD53842c5426634e7929541eC2318f3dCF7e"},
        "types":{"EIP712Domain":[{"name":"name","type":"string"},{"name":"version","type":"string"},{"name":"chainId","type":"uint256"},
            {"name":"verifyingContract","type":"address"}],
        "TransferWithAuthorization":[{"name":"from","type":"address"},{"name":"to","type":"address"},{"name":"value","type":"uint256"},
            {"name":"validAfter","type":"uint256"},{"name":"validBefore","type":"uint256"},{"name":"nonce","type":"bytes32"}]},
        "primaryType":"TransferWithAuthorization",
        "message":{"from":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","to":"0x209693Bc6afc0C5328bA36FaF03C514EF312287C","value":"10000",
            "validAfter":"0","validBefore":"1790000060","nonce":"0x8b1e122580ae3f6a8c3d36a24294e1260a87bde70f597279b973e39310072938"}}}"#;
    const DIGEST: &str = "0xdad0b88d8ef8db0b684b08c645a51350a2b25c6d43a241a33f349357170c6ac4";
    const SIGNATURE: &str =
        "0x869980b0b9b699f21f8d046eff160d85e8e7812642257644f2f858f0174dd3265439e4832d1b69c87d57e861b4713b54b0135da49662b3387d41f1a5f294a8541b";

    fn wallet(key: &str, chain: u64) -> DevWallet {
        DevWallet::of(&encoding::from_hex(key).unwrap(), chain).unwrap()
    }

    fn read(json: &str) -> Value {
        json::parse(json, json::MAX_DEPTH).unwrap()
    }

    /// A folder that goes away with its test.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("terms-mcp-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn accounts() {
        assert_eq!(wallet(ANVIL, 84_532).account(), "eip155:84532:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
        for (key, address) in [
            (1, "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf"),
            (2, "0x2B5AD5c4795c026514f8317c7a215E218DcCD6cF"),
            (3, "0x6813Eb9362372EEF6200f3b1dbC3f819671cBA69"),
        ] {
            assert_eq!(wallet(&format!("0x{key:064x}"), 1).account(), format!("eip155:1:{address}"));
        }
    }

    #[test]
    fn signs_as_another_wallet_does() {
        assert_eq!(digest(read(REQUEST).get("typedData").unwrap()).map(|digest| encoding::hex(&digest)), Ok(DIGEST.to_owned()));
        assert_eq!(wallet(ANVIL, 1).sign(&read(REQUEST)), Ok(SIGNATURE.into()));
        let batch = read(&format!(r#"{{"kind":"batch","requests":[{REQUEST},{REQUEST}]}}"#));
        assert_eq!(wallet(ANVIL, 1).sign(&batch), Ok(vec![SIGNATURE.into(), SIGNATURE.into()].into()));
        // A v of 28 as well; keccak256("cow") signs with the address that the EIP's mail comes from.
        let cow = wallet("0xc85ef7d79691fe79573b1a7064c19c1a9819ebdbd1faaab1a8ec92344438aaf4", 1);
        assert_eq!(cow.account(), "eip155:1:0xCD2a3d9F938E13CD947Ec05AbC7FE734Df8DD826");
        let mail = format!(r#"{{"kind":"eip712","typedData":{}}}"#, crate::typed_data::tests::MAIL);
        let signature =
            "0x4355c47d63924e8a72e509b65029052eb6c299d53a04e167c5775fd466751c9d07299936d304c153f6443dfa05f40ff007d72911b6f72307f996231605b915621c";
        assert_eq!(cow.sign(&read(&mail)), Ok(signature.into()));
    }

    #[test]
    fn every_signature_is_of_the_lower_s() {
        let half = encoding::from_hex("0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0").unwrap();
        for value in 0..64 {
            let request = read(&REQUEST.replace(r#""value":"10000""#, &format!(r#""value":"{value}""#)));
            let signature = wallet(ANVIL, 1).sign(&request).unwrap();
            let bytes = encoding::from_hex(signature.as_str().unwrap()).unwrap();
            assert_eq!(bytes.len(), 65);
            assert!(bytes[32..64] <= half[..]);
            assert!(matches!(bytes[64], 27 | 28));
        }
    }

    #[test]
    fn refuses_other_requests() {
        let refusal = |json: &str| wallet(ANVIL, 1).sign(&read(json)).unwrap_err();
        for json in ["null", "{}", r#"{"kind":1}"#, r#"{"kind":"bolt11-pay","invoice":"x"}"#, r#"{"kind":"eip712 "}"#] {
            assert_eq!(refusal(json), "the development wallet signs only eip712 requests", "{json}");
        }
        assert_eq!(refusal(r#"{"kind":"eip712"}"#), "not an object of exactly kind, typedData");
        assert_eq!(refusal(&REQUEST.replace(r#""kind""#, r#""broadcast":true,"kind""#)), "not an object of exactly kind, typedData");
        assert_eq!(refusal(r#"{"kind":"batch","requests":[{"kind":"batch","requests":[]}]}"#), "the development wallet signs only eip712 requests");
        assert_eq!(refusal(r#"{"kind":"batch","requests":{}}"#), "not a list of requests, or too long");
        assert_eq!(refusal(&format!(r#"{{"kind":"batch","requests":[{}0]}}"#, "0,".repeat(MAX_BATCH))), "not a list of requests, or too long");
        assert_eq!(refusal(r#"{"kind":"batch","requests":[],"x":1}"#), "not an object of exactly kind, requests");
    }

    #[test]
    fn a_key_file_is_made_once_and_kept_private() {
        let folder = Folder::new("key-file");
        let file = folder.0.join("key");
        let made = DevWallet::open(&file, 5).unwrap().account();
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(DevWallet::open(&file, 5).unwrap().account(), made);
        assert_ne!(DevWallet::open(&folder.0.join("other"), 5).unwrap().account(), made);

        for mode in [0o640, 0o604, 0o620, 0o601] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            assert!(DevWallet::open(&file, 5).err().unwrap().ends_with("(chmod 600)"), "{mode:o}");
        }
        fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).unwrap();
        assert!(DevWallet::open(&file, 5).is_ok());
        assert!(DevWallet::open(&folder.0, 5).err().unwrap().ends_with("(chmod 600)"));
        assert!(DevWallet::open(&folder.0.join("no/key"), 5).is_err());
    }

    #[test]
    fn a_key_file_holds_hex_and_its_errors_do_not() {
        let folder = Folder::new("key-text");
        let file = folder.0.join("key");
        let digits = &ANVIL[2..];
        let written = |text: &str| {
            let _ = fs::remove_file(&file);
            OpenOptions::new().write(true).create_new(true).mode(0o600).open(&file).unwrap().write_all(text.as_bytes()).unwrap();
            DevWallet::open(&file, 1).map(|wallet| wallet.account())
        };
        for text in [ANVIL.to_owned(), digits.to_owned(), format!("{ANVIL}\n"), format!("{}\r\n ", digits.to_uppercase())] {
            assert_eq!(written(&text).unwrap(), "eip155:1:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
        }
        for text in ["", &digits[1..], &format!("{digits}0"), &format!(" {digits}"), &"0".repeat(64), &"f".repeat(64), &format!("{ANVIL}{ANVIL}")] {
            assert_eq!(written(text), Err(format!("{}: holds no secp256k1 key of 64 hex digits", file.display())), "{text}");
        }
    }

    #[tokio::test]
    async fn answers_line_by_line() {
        let calls = [
            r#"{"id":1,"method":"account"}"#.to_owned(),
            format!(r#"{{"id":7,"method":"sign","request":{}}}"#, REQUEST.replace('\n', "")),
            r#"{"id":2,"method":"sign","request":{"kind":"tron-txid"}}"#.to_owned(),
            r#"{"id":3,"method":"export"}"#.to_owned(),
            r#"{"id":4,"method":"sign"}"#.to_owned(),
        ];
        let mut answers = Vec::new();
        wallet(ANVIL, 84_532).serve(calls.join("\n").as_bytes(), &mut answers).await.unwrap();
        let expected = [
            r#"{"id":1,"account":"eip155:84532:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"}"#,
            &format!(r#"{{"id":7,"answer":"{SIGNATURE}"}}"#),
            r#"{"id":2,"error":"the development wallet signs only eip712 requests"}"#,
            r#"{"id":3,"error":"no such call"}"#,
            r#"{"id":4,"error":"no such call"}"#,
            "",
        ];
        assert_eq!(String::from_utf8(answers).unwrap(), expected.join("\n"));
        for calls in ["x", "{}", "", "[]\n"] {
            let served = wallet(ANVIL, 1).serve(calls.as_bytes(), &mut Vec::new()).await;
            assert_eq!(served.is_ok(), calls.is_empty(), "{calls:?}");
        }
    }
}
