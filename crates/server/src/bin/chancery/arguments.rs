//! The command line.

use std::{
    ffi::OsString,
    fmt,
    path::{Path, PathBuf},
    process::ExitCode,
};

use lcp::Object;
use lexopt::{Arg, Parser, ValueExt};
use server::{
    admin::{AdminCommand, COMMANDS, CommandForm, Given},
    config::Flags,
    local::Who,
};

use crate::{policy, verify};

const HELP: &str = "\
The payment control plane: an agent asks to pay, policy decides, a mandate and a sealed record follow.

Usage: chancery COMMAND

  demo                    the whole story on this machine, step by step, in half a minute
  serve                   run the server: MCP for agents, REST, approval pages for people
  mcp                     serve MCP on standard input and output, for development
  admin COMMAND           organizations, people, agents, keys, policies
  policy check FILE       what is wrong with a policy document
  policy simulate FILE    what past requests would have come to under it
  verify BUNDLE.json --keys JWKS.json
                          whether a record is genuine; needs no server

chancery COMMAND --help says more. Start with `chancery demo`, then `chancery serve`.
";

const SETTINGS_HELP: &str = "\
Settings:
  --data FOLDER           the data folder; ~/.local/share/chancery if not given
  --listen ADDRESS:PORT   where HTTP is served; 127.0.0.1:7420 if not given
  --config FILE           the file of settings, instead of chancery.toml in the data folder
and the others of docs/configuration.md. Each can also be set by a variable, such as CHANCERY_DATA.
";

const SERVE_HELP: &str = "\
Runs the server. Without configuration it makes a data folder, a database, keys, and a sandbox organization with a policy, an agent and
its key, listens on this machine, and prints what to paste into an MCP client.

Usage: chancery serve [SETTINGS]

";

const MCP_HELP: &str = "\
Serves MCP on standard input and output, for development. It works through the server that runs on the data folder, or opens the folder itself.

Usage: chancery mcp [--key KEY | --agent AGENT] [SETTINGS]

  --key KEY               speak with this key; the variable CHANCERY_KEY is better, since others can read command lines
  --agent AGENT           speak for this agent; if neither is given, for the only one there is

";

const POLICY_HELP: &str = "\
Usage: chancery policy check FILE
       chancery policy simulate FILE [--org ORG] [--json] [SETTINGS]

check reads a policy document (docs/policy.md) and says what is wrong with it: the member, a code, a sentence. Exit code 1 if something is.
simulate decides the data folder's past requests under the document and shows what would change. It changes nothing.
";

const VERIFY_HELP: &str = "\
Verifies a record's bundle against keys that you trust, without a server.

Usage: chancery verify BUNDLE.json --keys JWKS.json [--json]

Exit code 0 if the record verifies, 1 if a check fails, 2 if a file cannot be read, 3 if nothing failed but the record is open or too little
could be checked, as without --keys.
";

const DEMO_HELP: &str = "\
Plays the whole story on this machine and ends by itself: an agent asks to pay; policy allows, denies, asks what is meant, or asks a person,
who approves in a page; the seller takes a mandate; records are sealed; one is verified, then changed by one byte and found out.

Usage: chancery demo
";

/// What the command line asks for.
#[derive(Debug, PartialEq)]
pub(crate) enum Action {
    Print(String),
    Serve(Flags),
    Mcp(McpOptions),
    Admin(AdminOptions),
    CheckPolicy(PathBuf),
    Verify(verify::Options),
    Demo,
}

#[derive(Debug, PartialEq)]
pub(crate) struct McpOptions {
    pub(crate) flags: Flags,
    pub(crate) who: Who,
}

#[derive(Debug, PartialEq)]
pub(crate) struct AdminOptions {
    pub(crate) flags: Flags,
    pub(crate) command: AdminCommand,
    pub(crate) json: bool,
}

/// Why a command did not do what it was to do.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command line is at fault.
    Usage(String),
    /// Something else.
    Failed(String),
}

impl Failure {
    pub(crate) fn of(error: impl fmt::Display) -> Self {
        Self::Failed(error.to_string())
    }

    pub(crate) fn code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => ExitCode::from(2),
            Self::Failed(_) => ExitCode::FAILURE,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Usage(text) | Self::Failed(text)) = self;
        f.write_str(text)
    }
}

impl From<lexopt::Error> for Failure {
    fn from(error: lexopt::Error) -> Self {
        Self::Usage(error.to_string())
    }
}

fn usage<T>(text: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Usage(text.into()))
}

/// Reads the command line, the program's name first.
pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Action, Failure> {
    let mut parser = Parser::from_iter(arguments);
    match parser.next()? {
        None => usage(format!("say what to do.\n\n{HELP}")),
        Some(Arg::Short('h') | Arg::Long("help")) => Ok(Action::Print(HELP.to_owned())),
        Some(Arg::Short('V') | Arg::Long("version")) => Ok(Action::Print(concat!("chancery ", env!("CARGO_PKG_VERSION"), "\n").to_owned())),
        Some(Arg::Value(command)) => match command.to_str() {
            Some("serve") => serve(&mut parser),
            Some("mcp") => mcp(&mut parser),
            Some("admin") => admin(&mut parser),
            Some("policy") => policy(&mut parser),
            Some("verify") => verify(&mut parser),
            Some("demo") => demo(&mut parser),
            Some("help") => Ok(Action::Print(HELP.to_owned())),
            _ => usage(format!("there is no such command: {}\n\n{HELP}", command.display())),
        },
        Some(other) => Err(other.unexpected().into()),
    }
}

/// Takes a setting, if the flag is one.
fn take_setting(parser: &mut Parser, flag: &str, flags: &mut Flags) -> Result<bool, Failure> {
    if flag == "config" {
        let value = parser.value()?;
        if flags.file.replace(value.into()).is_some() {
            return usage("--config: it is given twice");
        }
        return Ok(true);
    }
    let Some(setting) = Flags::setting(flag) else { return Ok(false) };
    let value = parser.value()?.string()?;
    flags.set(setting, value).map_err(|error| Failure::Usage(error.to_string()))?;
    Ok(true)
}

fn set_once<T>(place: &mut Option<T>, flag: &str, value: T) -> Result<(), Failure> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => usage(format!("--{flag}: it is given twice")),
    }
}

/// The next argument, with the name of a long option apart from the parser.
enum Next {
    Help,
    Long(String),
    Value(OsString),
    End,
}

fn next(parser: &mut Parser) -> Result<Next, Failure> {
    Ok(match parser.next()? {
        None => Next::End,
        Some(Arg::Short('h') | Arg::Long("help")) => Next::Help,
        Some(Arg::Long(name)) => Next::Long(name.to_owned()),
        Some(Arg::Value(value)) => Next::Value(value),
        Some(other @ Arg::Short(_)) => return Err(other.unexpected().into()),
    })
}

fn unknown_option<T>(name: &str) -> Result<T, Failure> {
    usage(format!("there is no option --{name} here"))
}

fn serve(parser: &mut Parser) -> Result<Action, Failure> {
    let mut flags = Flags::default();
    loop {
        match next(parser)? {
            Next::Help => return Ok(Action::Print(format!("{SERVE_HELP}{SETTINGS_HELP}"))),
            Next::Long(name) if take_setting(parser, &name, &mut flags)? => {}
            Next::Long(name) => return unknown_option(&name),
            Next::Value(_) => return usage("chancery serve takes options alone"),
            Next::End => return Ok(Action::Serve(flags)),
        }
    }
}

fn mcp(parser: &mut Parser) -> Result<Action, Failure> {
    let (mut flags, mut who) = (Flags::default(), Who::default());
    loop {
        match next(parser)? {
            Next::Help => return Ok(Action::Print(format!("{MCP_HELP}{SETTINGS_HELP}"))),
            Next::Long(name) if name == "key" => set_once(&mut who.key, &name, parser.value()?.string()?)?,
            Next::Long(name) if name == "agent" => set_once(&mut who.agent, &name, parser.value()?.string()?)?,
            Next::Long(name) if take_setting(parser, &name, &mut flags)? => {}
            Next::Long(name) => return unknown_option(&name),
            Next::Value(_) => return usage("chancery mcp takes options alone"),
            Next::End if who.key.is_some() && who.agent.is_some() => return usage("a key is of one agent: leave out --agent"),
            Next::End => return Ok(Action::Mcp(McpOptions { flags, who })),
        }
    }
}

/// How wide the usage of a command may be to have its explanation beside it.
const USAGE_WIDTH: usize = 36;

fn admin_help() -> String {
    let rows = COMMANDS.iter().map(|form| match form.usage() {
        usage if usage.len() <= USAGE_WIDTH => format!("  {usage:USAGE_WIDTH$}  {}\n", form.says),
        usage => format!("  {usage}\n  {:USAGE_WIDTH$}  {}\n", "", form.says),
    });
    format!(
        "Asks the server that runs on the data folder, or opens the folder itself if none runs.\n\nUsage: chancery admin COMMAND [--json] [SETTINGS]\n\n{}\n\
         --org may be left out while there is one organization. --json prints the answer as one JSON object.\n\n{SETTINGS_HELP}",
        rows.collect::<String>()
    )
}

fn admin(parser: &mut Parser) -> Result<Action, Failure> {
    let mut words = Vec::new();
    let form = loop {
        match next(parser)? {
            Next::Help => return Ok(Action::Print(admin_help())),
            Next::Value(word) => words.push(word.string()?),
            Next::Long(name) => return usage(format!("--{name} comes behind the command: chancery admin --help lists them")),
            Next::End => return usage(format!("say what to do.\n\n{}", admin_help())),
        }
        let said = words.join(" ");
        if let Some(form) = CommandForm::of(&said) {
            break form;
        }
        if !COMMANDS.iter().any(|form| form.words.starts_with(&format!("{said} "))) {
            return usage(format!("there is no such command: chancery admin {said}\n\n{}", admin_help()));
        }
    };
    command(parser, form)
}

/// The rest of an admin command.
fn command(parser: &mut Parser, form: &'static CommandForm) -> Result<Action, Failure> {
    let (mut flags, mut json, mut object) = (Flags::default(), false, Object::new().with("command", form.words));
    let mut places = form.fields.iter().filter(|field| field.given != Given::Option);
    let how = || format!("chancery admin {}", form.usage());
    loop {
        match next(parser)? {
            Next::Help => return Ok(Action::Print(format!("Usage: {} [--json] [SETTINGS]\n\n{}\n\n{SETTINGS_HELP}", how(), form.says))),
            Next::Value(value) => match places.next() {
                Some(field) if field.given == Given::File => object.set(field.name, policy::read(Path::new(&value))?),
                Some(field) => object.set(field.name, value.string()?),
                None => return usage(format!("too many words: {}", how())),
            },
            Next::Long(name) if name == "json" => json = true,
            Next::Long(name) => match form.fields.iter().find(|field| field.given == Given::Option && field.name == name) {
                Some(field) if object.has(field.name) => return usage(format!("--{name}: it is given twice")),
                Some(field) => object.set(field.name, parser.value()?.string()?),
                None if take_setting(parser, &name, &mut flags)? => {}
                None => return unknown_option(&name),
            },
            Next::End => break,
        }
    }
    if let Some(field) = places.next() {
        return usage(format!("{} is missing: {}", field.value, how()));
    }
    let command = AdminCommand::from_json(&object).map_err(|problem| Failure::Usage(problem.message.into_owned()))?;
    Ok(Action::Admin(AdminOptions { flags, command, json }))
}

fn policy(parser: &mut Parser) -> Result<Action, Failure> {
    match next(parser)? {
        Next::Help => Ok(Action::Print(POLICY_HELP.to_owned())),
        Next::Value(word) if word == "check" => match (next(parser)?, next(parser)?) {
            (Next::Value(file), Next::End) => Ok(Action::CheckPolicy(file.into())),
            (Next::Help, _) | (_, Next::Help) => Ok(Action::Print(POLICY_HELP.to_owned())),
            _ => usage("name one file: chancery policy check FILE"),
        },
        Next::Value(word) if word == "simulate" => match CommandForm::of("policy simulate") {
            Some(form) => command(parser, form),
            None => usage(POLICY_HELP),
        },
        _ => usage(format!("say what to do.\n\n{POLICY_HELP}")),
    }
}

fn verify(parser: &mut Parser) -> Result<Action, Failure> {
    let (mut bundle, mut keys, mut json) = (None, None, false);
    loop {
        match next(parser)? {
            Next::Help => return Ok(Action::Print(VERIFY_HELP.to_owned())),
            Next::Long(name) if name == "keys" => set_once(&mut keys, &name, parser.value()?.into())?,
            Next::Long(name) if name == "json" => json = true,
            Next::Long(name) => return unknown_option(&name),
            Next::Value(file) if bundle.is_none() => bundle = Some(file.into()),
            Next::Value(_) => return usage("one bundle at a time"),
            Next::End => break,
        }
    }
    match bundle {
        Some(bundle) => Ok(Action::Verify(verify::Options { bundle, keys, json })),
        None => usage(format!("name a bundle.\n\n{VERIFY_HELP}")),
    }
}

fn demo(parser: &mut Parser) -> Result<Action, Failure> {
    match next(parser)? {
        Next::Help => Ok(Action::Print(DEMO_HELP.to_owned())),
        Next::End => Ok(Action::Demo),
        _ => usage("chancery demo takes nothing"),
    }
}

#[cfg(test)]
mod tests {
    use control::ids::{AgentId, OrgId};
    use lcp::Value;
    use server::{admin::KeyHolder, temp_folder::TempFolder};

    use super::*;

    fn document(command: &AdminCommand) -> Option<&Value> {
        match command {
            AdminCommand::PolicySign { document, .. } | AdminCommand::PolicySimulate { document, .. } => Some(document),
            _ => None,
        }
    }

    fn parsed(arguments: &[&str]) -> Result<Action, Failure> {
        parse(["chancery"].iter().chain(arguments).map(OsString::from))
    }

    fn parsed_admin(arguments: &[&str]) -> AdminOptions {
        match parsed(arguments) {
            Ok(Action::Admin(options)) => options,
            other => panic!("{arguments:?}: {other:?}"),
        }
    }

    #[test]
    fn commands() {
        assert_eq!(parsed(&["demo"]).unwrap(), Action::Demo);
        let Ok(Action::Serve(flags)) = parsed(&["serve", "--listen", "127.0.0.1:0", "--config=a.toml", "--sandbox-rail-fails", "true"]) else {
            panic!("not served")
        };
        assert_eq!(flags.file, Some("a.toml".into()));
        let mut expected = Flags::default();
        expected.file = Some("a.toml".into());
        expected.set(Flags::setting("listen").unwrap(), "127.0.0.1:0".to_owned()).unwrap();
        expected.set(Flags::setting("sandbox-rail-fails").unwrap(), "true".to_owned()).unwrap();
        assert_eq!(flags, expected);
        let who = Who { key: Some("secret".to_owned()), agent: None };
        assert_eq!(parsed(&["mcp", "--key", "secret"]).unwrap(), Action::Mcp(McpOptions { flags: Flags::default(), who }));
        assert_eq!(parsed(&["policy", "check", "a.json"]).unwrap(), Action::CheckPolicy("a.json".into()));
        let options = verify::Options { bundle: "b.json".into(), keys: Some("k.json".into()), json: true };
        assert_eq!(parsed(&["verify", "--keys", "k.json", "b.json", "--json"]).unwrap(), Action::Verify(options));
    }

    #[test]
    fn admin_commands() {
        let agent = AgentId::of([2; 16]);
        let options = parsed_admin(&["admin", "key", "create", "--agent", agent.as_str(), "agent", "--name", "Ann", "--json", "--data", "d"]);
        let command = AdminCommand::KeyCreate { org: None, holder: KeyHolder::Agent(agent), name: Some("Ann".to_owned()) };
        assert_eq!((options.command, options.json), (command, true));
        let mut flags = Flags::default();
        flags.set(Flags::setting("data").unwrap(), "d".to_owned()).unwrap();
        assert_eq!(options.flags, flags);
        assert_eq!(parsed_admin(&["admin", "status"]).command, AdminCommand::Status);
        assert_eq!(parsed_admin(&["admin", "rail", "fail", "on"]).command, AdminCommand::RailFail { on: true });
        let org = OrgId::of([1; 16]);
        assert_eq!(parsed_admin(&["admin", "agent", "list", "--org", org.as_str()]).command, AdminCommand::AgentList { org: Some(org) });
    }

    #[test]
    fn a_document_is_read_from_its_file() {
        let folder = TempFolder::new().unwrap();
        let file = folder.path().join("policy.json");
        std::fs::write(&file, r#"{"currency":"USD"}"#).unwrap();
        let file = file.display().to_string();
        for arguments in [&["admin", "policy", "sign", &file][..], &["policy", "simulate", &file]] {
            let command = parsed_admin(arguments).command;
            assert_eq!(document(&command).and_then(|document| document.get("currency")).and_then(Value::as_str), Some("USD"));
        }
        let failure = parsed(&["policy", "simulate", "/nowhere/policy.json"]).unwrap_err();
        assert_eq!(failure.code(), ExitCode::from(2));
    }

    #[test]
    fn help_teaches_every_command() {
        let help = |arguments: &[&str]| match parsed(arguments) {
            Ok(Action::Print(text)) => text,
            other => panic!("{arguments:?}: {other:?}"),
        };
        for command in ["serve", "mcp", "admin", "policy", "verify", "demo"] {
            assert!(help(&["--help"]).contains(&format!("\n  {command} ")), "{command}");
            assert!(help(&[command, "--help"]).contains(&format!("chancery {command}")), "{command}");
        }
        for form in COMMANDS {
            assert!(help(&["admin", "--help"]).contains(&form.usage()), "{}", form.words);
            let arguments: Vec<_> = ["admin"].into_iter().chain(form.words.split(' ')).chain(["--help"]).collect();
            assert!(help(&arguments).contains(form.says), "{}", form.words);
        }
        assert!(help(&["--version"]).starts_with("chancery "));
    }

    #[test]
    fn refuses_the_rest() {
        for arguments in [
            &[][..],
            &["start"],
            &["--data", "d", "serve"],
            &["serve", "now"],
            &["serve", "--lissten", "x"],
            &["serve", "--listen"],
            &["serve", "--listen", "a", "--listen", "b"],
            &["serve", "--config", "a", "--config", "b"],
            &["serve", "-x"],
            &["mcp", "--key", "a", "--agent", "b"],
            &["mcp", "--key", "a", "--key", "b"],
            &["admin"],
            &["admin", "key"],
            &["admin", "keys", "list"],
            &["admin", "--json", "status"],
            &["admin", "status", "now"],
            &["admin", "org", "create"],
            &["admin", "org", "create", "--name", "a"],
            &["admin", "org", "create", "a", "b"],
            &["admin", "key", "create", "agent"],
            &["admin", "key", "create", "seller", "--domain", "shop.example", "--domain", "shop.example"],
            &["admin", "rail", "fail", "maybe"],
            &["policy"],
            &["policy", "check"],
            &["policy", "check", "a", "b"],
            &["policy", "simulate"],
            &["policy", "sign", "a"],
            &["verify"],
            &["verify", "a", "b"],
            &["verify", "a", "--keys"],
            &["demo", "fast"],
        ] {
            match parsed(arguments) {
                Err(failure @ Failure::Usage(_)) => assert_eq!(failure.code(), ExitCode::from(2)),
                other => panic!("{arguments:?}: {other:?}"),
            }
        }
    }
}
