//! `chancery serve`.

use std::io;

use lcp::{Value, json};
use server::{
    config::{Config, Flags},
    data_folder::DataFolder,
    local,
    service::FirstStart,
};
use tokio::{
    net::TcpListener,
    signal::unix::{SignalKind, signal},
};

use crate::{arguments::Failure, output::put, plane::Plane};

/// What is shown on every start but the first, since nothing is kept that could be shown again.
const LATER_START: &str = "\
What there is:         chancery admin status, org list, agent list, key list
A new key:             chancery admin key create agent --agent AGENT
A new password:        chancery admin user link LOGIN
";

/// The settings, from the command line and this process's environment.
pub(crate) fn config(flags: &Flags) -> Result<Config, Failure> {
    let environment: Vec<_> =
        std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.to_string_lossy().into_owned()))).collect();
    Config::load(flags, &environment).map_err(|error| Failure::Usage(error.to_string()))
}

/// Listens where the settings say.
pub(crate) async fn listen(config: &Config) -> Result<TcpListener, Failure> {
    TcpListener::bind(config.listen).await.map_err(|error| match error.kind() {
        io::ErrorKind::AddrInUse => Failure::Failed(format!("{}: something listens there: choose another address with --listen", config.listen)),
        _ => Failure::Failed(format!("{}: {error}", config.listen)),
    })
}

/// Serves until the process is told to end.
pub(crate) async fn run(flags: &Flags) -> Result<(), Failure> {
    let config = config(flags)?;
    let folder = DataFolder::make(&config.data).map_err(Failure::of)?;
    // Before anything is said: a signal from here on ends the server as it should.
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt()).map_err(Failure::of)?, signal(SignalKind::terminate()).map_err(Failure::of)?);
    let lock = local::own(&folder).await.map_err(Failure::of)?;
    let listener = listen(&config).await?;
    let mut plane = Plane::start(lock, &config, Some(listener)).await?;
    put(started(&config, &folder, &plane));
    match plane.first_start.take() {
        Some(first) => put(first_start(&first, &plane.base)),
        None => put(LATER_START),
    }
    let ended = tokio::select! {
        _ = interrupt.recv() => Ok(()),
        _ = terminate.recv() => Ok(()),
        ended = plane.ended() => ended,
    };
    plane.stop().await?;
    ended
}

fn started(config: &Config, folder: &DataFolder, plane: &Plane) -> String {
    let money = if config.sandbox { "a sandbox: no real money moves" } else { "no sandbox" };
    format!("Chancery {}, {money}\n  at    {}\n  data  {}\n\n", env!("CARGO_PKG_VERSION"), plane.base, folder.path().display())
}

/// What is shown once.
fn first_start(first: &FirstStart, base: &str) -> String {
    format!(
        "This is the first start. What follows is shown once; only hashes of it are kept.\n\n\
         1. Open this link to set the password of {:?}, who approves payments. It is good once, for 15 minutes:\n   {}\n\n\
         2. Paste this into your MCP client, and the agent can ask to pay:\n{}\n\n\
         3. Keys for your own programs (Authorization: Bearer, REST under {base}/v0):\n   agent      {}\n   developer  {}\n   seller     {}  ({})\n\n",
        first.owner,
        first.setup_url,
        indented(&client_block(base, &first.agent_key)),
        first.agent_key,
        first.developer_key,
        first.seller_key,
        seller_domain(first),
    )
}

/// The domain that the seller's key is for.
pub(crate) fn seller_domain(first: &FirstStart) -> String {
    first.to_json().get("seller_domain").and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// What an MCP client's configuration needs.
fn client_block(base: &str, key: &str) -> String {
    let text = |text: String| json::write(&text.into());
    format!(
        "{{\n  \"mcpServers\": {{\n    \"chancery\": {{\n      \"type\": \"http\",\n      \"url\": {},\n      \"headers\": {{ \"Authorization\": {} }}\n    }}\n  }}\n}}",
        text(format!("{base}/mcp")),
        text(format!("Bearer {key}"))
    )
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("   {line}")).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use control::{
        Instant,
        ids::{AgentId, OrgId},
    };

    use super::*;

    fn member<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
        path.iter().try_fold(value, |value, name| value.get(name))?.as_str()
    }

    #[test]
    fn the_block_is_json_that_a_client_reads() {
        let block = json::parse(&client_block("http://127.0.0.1:7420", "enruta_agt_x"), 9).unwrap();
        assert_eq!(member(&block, &["mcpServers", "chancery", "url"]), Some("http://127.0.0.1:7420/mcp"));
        assert_eq!(member(&block, &["mcpServers", "chancery", "headers", "Authorization"]), Some("Bearer enruta_agt_x"));
        assert_eq!(member(&block, &["mcpServers", "chancery", "type"]), Some("http"));
    }

    #[test]
    fn the_first_start_shows_link_and_keys() {
        let first = FirstStart {
            org: OrgId::of([1; 16]),
            agent: AgentId::of([2; 16]),
            setup_expires_at: Instant::from_millis(0),
            agent_key: "enruta_agt_1".to_owned(),
            developer_key: "enruta_dev_2".to_owned(),
            seller_key: "enruta_slr_3".to_owned(),
            owner: "owner".to_owned(),
            setup_url: "http://127.0.0.1:7420/setup/4".to_owned(),
        };
        let text = first_start(&first, "http://127.0.0.1:7420");
        for shown in ["enruta_agt_1", "enruta_dev_2", "enruta_slr_3", "\"owner\"", "/setup/4", "shown once", "15 minutes"] {
            assert!(text.contains(shown), "{shown}: {text}");
        }
    }
}
