//! The buyer gate's binary.

mod address;
#[cfg(test)]
mod agreements;
mod demo;
mod dev_wallet;
mod public_fetch;
mod signer_process;
mod skill;
mod system_env;
mod typed_data;

use std::{ffi::OsString, path::PathBuf, process::ExitCode};

use lexopt::{Arg, Parser, ValueExt};
use terms_mcp::BuyerServer;
use tokio::io::{BufReader, stdin, stdout};

use crate::{
    dev_wallet::{DEFAULT_CHAIN, DevWallet},
    public_fetch::{Allowed, PublicFetch},
    signer_process::ProcessSigner,
    system_env::SystemEnv,
};

const HELP: &str = "\
The buyer gate as Model Context Protocol tools over stdin and stdout.

Usage: terms-mcp [OPTIONS]
       terms-mcp demo
       terms-mcp skill --print | --install DIR
       terms-mcp dev-signer [--key-file FILE] [--chain ID]

Options:
  --signer COMMAND            start this wallet and let the tools sign with it (docs/signer-protocol.md)
  --agreement-signer COMMAND  start this wallet for agreement payments
  --allow-net NETWORK         let sellers be in this network too, such as 127.0.0.0/8; may be repeated
  --ca-cert FILE              trust the certificates of this PEM file too; may be repeated
  --help                      print this
  --version                   print the version

demo plays a payment against a seller on this machine, step by step.

skill is what teaches an agent to use the tools:
  --print                     print it
  --install DIR               write its folder into DIR, an agent's folder of skills such as .claude/skills

dev-signer is a wallet for development, never for money of worth:
  --key-file FILE             the key's file, made with a new key if there is none; else a new key each time
  --chain ID                  the EVM chain of its account; 84532 if not given
";

/// What the command line asks for.
#[derive(Debug)]
enum Action {
    Help,
    Version,
    Serve(Options),
    Demo,
    PrintSkill,
    InstallSkill(PathBuf),
    DevSigner { key_file: Option<PathBuf>, chain: u64 },
}

#[derive(Debug, Default)]
struct Options {
    allowed: Allowed,
    signer: Option<String>,
    agreement_signer: Option<String>,
}

fn main() -> ExitCode {
    let action = match parse(std::env::args_os()) {
        Ok(action) => action,
        Err(error) => {
            eprintln!("terms-mcp: {error}");
            return ExitCode::from(2);
        }
    };
    match run(action) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("terms-mcp: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(action: Action) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| error.to_string())?;
    let outcome = match action {
        Action::Help => {
            print!("{HELP}");
            Ok(())
        }
        Action::Version => {
            println!("terms-mcp {}", env!("CARGO_PKG_VERSION"));
            Ok(())
        }
        Action::Demo => runtime.block_on(demo::play()),
        Action::PrintSkill => {
            print!("{}", skill::TEXT);
            Ok(())
        }
        Action::InstallSkill(folder) => skill::install(&folder).map(|file| println!("{file}")),
        Action::Serve(options) => runtime.block_on(serve(options)),
        Action::DevSigner { key_file, chain } => runtime.block_on(dev_signer(key_file, chain)),
    };
    // A thread that still reads stdin or asks a name server must not hold the process up.
    runtime.shutdown_background();
    outcome
}

fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Action, lexopt::Error> {
    let mut parser = Parser::from_iter(arguments);
    let mut options = Options::default();
    let mut first = true;
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("help") => return Ok(Action::Help),
            Arg::Long("version") => return Ok(Action::Version),
            Arg::Long("allow-net") => options.allowed.nets.push(parser.value()?.parse()?),
            Arg::Long("ca-cert") => options.allowed.ca_certs.push(parser.value()?.into()),
            Arg::Long("signer") => set_once(&mut options.signer, "--signer", parser.value()?.string()?)?,
            Arg::Long("agreement-signer") => set_once(&mut options.agreement_signer, "--agreement-signer", parser.value()?.string()?)?,
            Arg::Value(command) if first && command == "dev-signer" => return parse_dev_signer(&mut parser),
            Arg::Value(command) if first && command == "demo" => return ended(&mut parser, Action::Demo),
            Arg::Value(command) if first && command == "skill" => return parse_skill(&mut parser),
            other => return Err(other.unexpected()),
        }
        first = false;
    }
    Ok(Action::Serve(options))
}

/// The action, if nothing follows.
fn ended(parser: &mut Parser, action: Action) -> Result<Action, lexopt::Error> {
    match parser.next()? {
        None => Ok(action),
        Some(Arg::Long("help")) => Ok(Action::Help),
        Some(other) => Err(other.unexpected()),
    }
}

fn parse_skill(parser: &mut Parser) -> Result<Action, lexopt::Error> {
    match parser.next()? {
        Some(Arg::Long("print")) => ended(parser, Action::PrintSkill),
        Some(Arg::Long("install")) => {
            let folder = parser.value()?.into();
            ended(parser, Action::InstallSkill(folder))
        }
        Some(Arg::Long("help")) => Ok(Action::Help),
        Some(other) => Err(other.unexpected()),
        None => Err("skill needs --print or --install DIR".into()),
    }
}

fn parse_dev_signer(parser: &mut Parser) -> Result<Action, lexopt::Error> {
    let (mut key_file, mut chain) = (None, None);
    while let Some(argument) = parser.next()? {
        match argument {
            Arg::Long("help") => return Ok(Action::Help),
            Arg::Long("key-file") => set_once(&mut key_file, "--key-file", parser.value()?.into())?,
            Arg::Long("chain") => {
                let id = parser.value()?.parse_with(|id| lcp::wire::evm::chain_id(&format!("eip155:{id}")).ok_or("not a chain id"))?;
                set_once(&mut chain, "--chain", id)?;
            }
            other => return Err(other.unexpected()),
        }
    }
    Ok(Action::DevSigner { key_file, chain: chain.unwrap_or(DEFAULT_CHAIN) })
}

fn set_once<T>(place: &mut Option<T>, name: &str, value: T) -> Result<(), lexopt::Error> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(format!("{name} is given twice").into()),
    }
}

/// Serves the tools on stdin and stdout until the client leaves.
async fn serve(options: Options) -> Result<(), String> {
    let fetch = PublicFetch::new(options.allowed)?;
    let env = SystemEnv::new().map_err(|error| format!("no randomness: {error}"))?;
    let server = BuyerServer::new(fetch, env);
    let served = match (start(options.signer).await?, start(options.agreement_signer).await?) {
        (None, None) => terms_mcp::serve(server, stdin(), stdout()).await,
        (Some(signer), None) => terms_mcp::serve(server.signer(signer), stdin(), stdout()).await,
        (None, Some(agreement)) => terms_mcp::serve(server.agreement_signer(agreement), stdin(), stdout()).await,
        (Some(signer), Some(agreement)) => terms_mcp::serve(server.signer(signer).agreement_signer(agreement), stdin(), stdout()).await,
    };
    served.map_err(|error| error.to_string())
}

async fn start(command: Option<String>) -> Result<Option<ProcessSigner>, String> {
    match command {
        Some(command) => ProcessSigner::start(&command).await.map(Some).map_err(|error| error.to_string()),
        None => Ok(None),
    }
}

async fn dev_signer(key_file: Option<PathBuf>, chain: u64) -> Result<(), String> {
    let wallet = match key_file {
        Some(file) => DevWallet::open(&file, chain)?,
        None => DevWallet::generate(chain).map_err(|error| error.to_string())?,
    };
    eprintln!("terms-mcp dev-signer: for development only, it signs whatever it is asked; account {}", wallet.account());
    wallet.serve(BufReader::new(stdin()), stdout()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<Action, String> {
        parse(["terms-mcp"].iter().chain(arguments).map(OsString::from)).map_err(|error| error.to_string())
    }

    #[test]
    fn options_of_the_server() {
        let Ok(Action::Serve(options)) = parsed(&["--allow-net", "127.0.0.0/8", "--allow-net=::1/128", "--ca-cert", "a.pem", "--signer", "a 'b c'"])
        else {
            panic!("not served");
        };
        assert_eq!(options.allowed.nets.iter().map(ToString::to_string).collect::<Vec<_>>(), ["127.0.0.0/8", "::1/128"]);
        assert_eq!(options.allowed.ca_certs, [PathBuf::from("a.pem")]);
        assert_eq!((options.signer.as_deref(), options.agreement_signer), (Some("a 'b c'"), None));
        assert!(matches!(parsed(&[]), Ok(Action::Serve(Options { signer: None, .. }))));
    }

    #[test]
    fn commands() {
        assert!(matches!(parsed(&["--help"]), Ok(Action::Help)));
        assert!(matches!(parsed(&["dev-signer", "--help"]), Ok(Action::Help)));
        assert!(matches!(parsed(&["--version"]), Ok(Action::Version)));
        assert!(matches!(parsed(&["dev-signer"]), Ok(Action::DevSigner { key_file: None, chain: 84_532 })));
        let Ok(Action::DevSigner { key_file: Some(file), chain: 1 }) = parsed(&["dev-signer", "--chain", "1", "--key-file", "k"]) else {
            panic!("no dev-signer");
        };
        assert_eq!(file, PathBuf::from("k"));
    }

    #[test]
    fn refuses_the_rest() {
        for arguments in [
            &["serve"][..],
            &["--signers", "a"],
            &["--signer"],
            &["--signer", "a", "--signer", "b"],
            &["--allow-net", "127.0.0.1"],
            &["--allow-net", "127.0.0.1/8"],
            &["--signer", "a", "dev-signer"],
            &["dev-signer", "--chain", "0x1"],
            &["dev-signer", "--chain", "0"],
            &["dev-signer", "--chain", "1", "--chain", "1"],
            &["dev-signer", "--allow-net", "::/0"],
            &["dev-signer", "x"],
            &["demo", "x"],
            &["skill"],
            &["skill", "--install"],
            &["skill", "--print", "x"],
            &["--signer", "a", "demo"],
        ] {
            assert!(parsed(arguments).is_err(), "{arguments:?}");
        }
    }
}
