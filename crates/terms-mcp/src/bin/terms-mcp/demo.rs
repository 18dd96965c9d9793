//! `terms-mcp demo`: a seller with terms, an agent that talks to this very server, and a wallet, step by step on the screen.

mod agent;
pub(crate) mod seller;

use std::{env, fs, io, path::PathBuf};

use lcp::{Hash, Object, Value, encoding, json};

use crate::{
    address::NetError,
    dev_wallet::{DEFAULT_CHAIN, DevWallet},
    public_fetch::{Allowed, PublicFetch},
};
use agent::Mcp;
use seller::Seller;

const LOOPBACK: &str = "127.0.0.0/8";
const PAIRING: &str = "x402/exact/eip155/eip3009";

/// Plays the whole exchange, then once more with one byte of the record missing. It ends by itself.
pub(crate) async fn play() -> Result<(), String> {
    let seller = Seller::start().await?;
    let certificates = CertificateFile::write(seller.certificate())?;
    let wallet = DevWallet::generate(DEFAULT_CHAIN).map_err(|error| error.to_string())?;
    let account = wallet.account();
    let loopback = LOOPBACK.parse().map_err(|error: NetError| error.to_string())?;
    let http = PublicFetch::new(Allowed { nets: vec![loopback], ca_certs: vec![certificates.0.clone()] })?;
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let mut mcp = Mcp::start(&program, &["--allow-net", LOOPBACK, "--ca-cert", &certificates.0.display().to_string()]).await?;

    say("A seller listens on this machine", &seller.url);
    say("A wallet with a fresh key, for development", &account);
    say("An MCP client started this server over stdio; its tools", &mcp.tools().await?.join(", "));

    title("The agent asks for the resource");
    let asked = agent::get(&http, &seller.url, None).await?;
    let header = asked.header("payment-required").ok_or("the seller named no price")?;
    let document = encoding::from_base64(&header)
        .and_then(|bytes| json::parse_bytes(&bytes, json::MAX_DEPTH).ok())
        .ok_or("the seller's document is unreadable")?;
    say("It answers", &format!("{} Payment Required", asked.status));
    let option = document.get("accepts").and_then(|options| options.as_array()?.first()).ok_or("nothing to pay")?;
    say("Price", &format!("{} units of {} on {}", text(option, "amount"), text(option, "asset"), text(option, "network")));
    let info = document.get("extensions").and_then(|extensions| extensions.get("legalContext")?.get("info")).ok_or("no terms")?;
    say("Terms (ATR)", &text(info, "legalContextUrl"));
    say("Advertised hash", &text(info, "value"));

    title("The gate confirms the terms: atr_confirm");
    let arguments = Object::new().with("pairing", PAIRING).with("document", &document).with("account", account.as_str());
    let confirmed = mcp.call("atr_confirm", &arguments).await?;
    let atr = member(&confirmed, "atr")?;
    say("It fetched the ATR", &text(atr, "utf8"));
    say("Its SHA-256 is the advertised hash", &text(&confirmed, "atrHash"));
    let request = member(&confirmed, "request")?;
    let message = request.get("typedData").and_then(|typed| typed.get("message")).ok_or("nothing to sign")?;
    say("What the wallet is asked to sign", &format!("{} TransferWithAuthorization", text(request, "kind")));
    say("  its nonce is the hash", &text(message, "nonce"));

    title("The wallet signs, the gate reads the hash back: atr_finish");
    let signature = wallet.sign(request)?;
    say("Signature", &json::write(&signature));
    let arguments = Object::new()
        .with("pairing", PAIRING)
        .with("atr", member(atr, "base64")?)
        .with("chosen", member(&confirmed, "chosen")?)
        .with("signature", signature);
    let finished = mcp.call("atr_finish", &arguments).await?;
    let signed = member(&finished, "signed")?;
    say("The payment carries", &text(&finished, "atrHash"));

    title("The agent sends the payment");
    let paid = agent::get(&http, &seller.url, Some(&encoding::base64(json::write(signed).as_bytes()))).await?;
    say("It answers", &format!("{} {}", paid.status, String::from_utf8_lossy(&paid.body).trim_end()));
    if paid.status != 200 {
        return Err("the seller did not take the payment".to_owned());
    }

    title("The seller now serves one byte less under the same hash");
    seller.serve_one_byte_less();
    let arguments = Object::new().with("pairing", PAIRING).with("document", &document).with("account", account.as_str());
    let decline = mcp.decline("atr_confirm", &arguments).await?;
    say("atr_confirm declines", &text(&decline, "code"));
    say("", &text(&decline, "detail"));
    say("Nothing was signed", "");
    mcp.stop().await?;

    println!("\nTo give your own agent the gate, paste this into its MCP client's configuration:\n");
    println!("{}", client_block(&program.display().to_string()));
    println!("\nand the skill into its folder of skills: terms-mcp skill --install .claude/skills");
    Ok(())
}

fn client_block(program: &str) -> String {
    let program = json::write(&program.into());
    format!("{{\n  \"mcpServers\": {{\n    \"terms\": {{\n      \"command\": {program}\n    }}\n  }}\n}}")
}

fn title(text: &str) {
    println!("\n{text}");
}

fn say(what: &str, value: &str) {
    println!("  {what}{}{value}", if value.is_empty() || what.is_empty() { "" } else { ": " });
}

fn member<'a>(value: &'a Value, name: &str) -> Result<&'a Value, String> {
    value.get(name).ok_or_else(|| format!("the server answered without {name}"))
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// The seller's certificate authority in a file, which goes away with the demo.
struct CertificateFile(PathBuf);

impl CertificateFile {
    fn write(pem: &str) -> Result<Self, String> {
        let mut name = [0; 8];
        getrandom::fill(&mut name).map_err(|error| error.to_string())?;
        let file = env::temp_dir().join(format!("terms-mcp-demo-{}.pem", encoding::base64url(&name)));
        let written =
            fs::OpenOptions::new().write(true).create_new(true).open(&file).and_then(|mut opened| io::Write::write_all(&mut opened, pem.as_bytes()));
        written.map_err(|error| format!("{}: {error}", file.display()))?;
        Ok(Self(file))
    }
}

impl Drop for CertificateFile {
    fn drop(&mut self) {
        // A file that stays behind holds a public certificate only.
        let _ = fs::remove_file(&self.0);
    }
}

/// The record that the demo's seller serves, and its hash.
fn record() -> (Vec<u8>, Hash) {
    let record =
        br#"{"atrVersion":"1","id":"3c9be1d2-demo","seller":"Quotes on loopback","terms":"One quote for 0.01 USDC. No refund once it is served."}"#
            .to_vec();
    let h = Hash::of(&record);
    (record, h)
}
