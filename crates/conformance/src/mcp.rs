//! Runs a row through the real MCP server, over in-memory stdio.
//!
//! What an agent passes back sealed (`chosen`, a hold, an opening) is sealed here, since rows hold it bare. The macs of the
//! answer are checked by passing them back in the rows that follow, and taken out before the comparison.

use lcp::{Object, Value, encoding, json};
use terms_mcp::{BuyerServer, sealing};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, split};

use crate::{
    library::{Ran, as_written},
    row::{self, Row},
    world::World,
};

/// The answer of the tool in its wire form, without macs. Where the row cancels the call there is no answer to compare,
/// and the expectation is taken for it: what was done outside still is.
pub async fn run(row: &Row, world: &World) -> Result<Ran, String> {
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (reader, writer) = split(theirs);
    let server = BuyerServer::new(world.clone(), world.clone());
    let wallets = row.get("signer");
    let agreement = wallets.and_then(|wallets| wallets.get("agreement"));
    let served = match (wallets, agreement) {
        (None, _) => tokio::spawn(terms_mcp::serve(server, reader, writer)),
        (Some(signer), None) => tokio::spawn(terms_mcp::serve(server.signer(world.wallet("signer", signer)), reader, writer)),
        (Some(signer), Some(agreement)) => {
            let server = server.signer(world.wallet("signer", signer)).agreement_signer(world.wallet("agreement", agreement));
            tokio::spawn(terms_mcp::serve(server, reader, writer))
        }
    };
    let mut client = Client::of(ours);
    client.greet().await?;
    let answer = client.call(row, world).await?;
    drop(client);
    served.await.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    let answer = answer.map_or_else(|| row.expect().clone(), |result| of_result(row, &result));
    Ok(Ran { answer: as_written(&answer), bound: None })
}

struct Client {
    ask: WriteHalf<DuplexStream>,
    answers: BufReader<ReadHalf<DuplexStream>>,
}

const CALL: u64 = 2;
const PING: u64 = 3;

impl Client {
    fn of(stream: DuplexStream) -> Self {
        let (reader, ask) = split(stream);
        Self { ask, answers: BufReader::new(reader) }
    }

    async fn greet(&mut self) -> Result<(), String> {
        let client = Object::new().with("name", "conformance").with("version", "0");
        let params = Object::new().with("protocolVersion", "2025-11-25").with("capabilities", Object::new()).with("clientInfo", client);
        self.send(&request(1, "initialize").with("params", params)).await?;
        self.answer().await?;
        self.send(&notification("notifications/initialized")).await
    }

    /// Calls the row's tool. `None` where the row cancels the call, after which a server does not answer.
    async fn call(&mut self, row: &Row, world: &World) -> Result<Option<Value>, String> {
        let params = Object::new().with("name", tool(row)?).with("arguments", arguments(row));
        let call = json::write(&request(CALL, "tools/call").with("params", params).into()) + "\n";
        let cancelled = notification("notifications/cancelled").with("params", Object::new().with("requestId", CALL));
        // Once the ping behind the cancellation is answered, the cancellation has been read.
        let cancel = json::write(&cancelled.into()) + "\n" + &json::write(&request(PING, "ping").into()) + "\n";
        if world.cancel().is_cancelled() {
            self.write(&(call + &cancel)).await?;
        } else {
            self.write(&call).await?;
        }
        let mut sent = world.cancel().is_cancelled();
        loop {
            let line = tokio::select! {
                () = world.cancel().cancelled(), if !sent => {
                    sent = true;
                    self.write(&cancel).await?;
                    continue;
                }
                line = read_line(&mut self.answers) => line?,
            };
            match line.get("id").and_then(Value::as_safe_unsigned) {
                Some(CALL) => return Ok(Some(line)),
                Some(PING) => {
                    world.release();
                    return Ok(None);
                }
                _ => {}
            }
        }
    }

    async fn send(&mut self, message: &Object) -> Result<(), String> {
        self.write(&(json::write(&message.clone().into()) + "\n")).await
    }

    async fn write(&mut self, lines: &str) -> Result<(), String> {
        self.ask.write_all(lines.as_bytes()).await.map_err(|error| error.to_string())
    }

    async fn answer(&mut self) -> Result<Value, String> {
        read_line(&mut self.answers).await
    }
}

async fn read_line(answers: &mut BufReader<ReadHalf<DuplexStream>>) -> Result<Value, String> {
    let mut line = String::new();
    if answers.read_line(&mut line).await.map_err(|error| error.to_string())? == 0 {
        return Err("the server ended without an answer".to_owned());
    }
    json::parse(&line, 1024).map_err(|error| format!("the server wrote a line that is {error}"))
}

fn request(id: u64, method: &str) -> Object {
    Object::new().with("jsonrpc", "2.0").with("id", id).with("method", method)
}

fn notification(method: &str) -> Object {
    Object::new().with("jsonrpc", "2.0").with("method", method)
}

fn tool(row: &Row) -> Result<&'static str, String> {
    Ok(match row.op() {
        "confirm" => "atr_confirm",
        "finish" => "atr_finish",
        "check" => "atr_check",
        "transact" => "atr_transact",
        "agree" => "atr_agree",
        "open_channel" => "atr_channel_open",
        "record_charge" => "atr_channel_record_charge",
        "within" => "atr_channel_within",
        other => return Err(format!("no tool for {other}")),
    })
}

/// The row's arguments as an agent passes them: long values written out, what the server seals sealed.
fn arguments(row: &Row) -> Object {
    let none = Object::new();
    let given = row.get("args").and_then(Value::as_object).unwrap_or(&none);
    let mut arguments = Object::new();
    for (name, value) in given.iter() {
        arguments.set(name.clone(), written_out(value));
    }
    if row.op() == "agree" {
        arguments.remove("pairing");
    }
    if let Some(chosen) = arguments.get("chosen").and_then(Value::as_object) {
        let sealed = sealing::chosen(chosen);
        arguments.set("chosen", sealed);
    }
    if let Some(hold) = arguments.get("hold").and_then(Value::as_object) {
        let mut hold = hold.clone();
        if let Some(atr) = hold.get("atr").map(written_out) {
            hold.set("atr", atr);
        }
        arguments.set("hold", sealing::hold(&hold));
    }
    if row.op() == "open_channel" {
        let landed = arguments.get("landed").filter(|landed| !landed.is_null());
        let mac = sealing::opening(row.pairing_argument(), arguments.get("signed").unwrap_or(&Value::Null), landed);
        arguments.set("mac", mac);
    }
    arguments
}

fn written_out(value: &Value) -> Value {
    match row::repeated(value) {
        Some((byte, count)) => encoding::base64(&vec![byte; count]).into(),
        None => value.clone(),
    }
}

/// A tool's result as rows record it, held to the framing: one text block that is the structured content's text.
fn of_result(row: &Row, message: &Value) -> Value {
    let fault = |what: &str| Value::from(Object::new().with("mcp", what));
    let Some(result) = message.get("result") else { return message.clone() };
    let failed = match result.get("isError") {
        None => false,
        Some(Value::Bool(true)) => true,
        Some(_) => return fault("isError is neither absent nor true"),
    };
    let text = match result.get("content").and_then(Value::as_array) {
        Some([block]) => block.get("text").and_then(Value::as_str),
        _ => None,
    };
    let Some(text) = text else { return fault("the content is not one text block") };
    let Some(structured) = result.get("structuredContent").and_then(Value::as_object) else {
        return if failed { of_schema_error(row, text) } else { fault("no structuredContent") };
    };
    if json::parse(text, 1024).map(|value| json::write(&value)) != Ok(json::write(&structured.clone().into())) {
        return fault("the text is not that of structuredContent");
    }
    if failed != structured.has("decline") {
        return fault("isError does not tell a decline");
    }
    without_macs(row, structured)
}

/// A schema error names the argument that the row says; which other one it names, the row does not say.
fn of_schema_error(row: &Row, text: &str) -> Value {
    let refused = row.get("schema_refused").or_else(|| row.expect().get("schema_refused")).and_then(Value::as_str);
    match refused {
        Some(argument) if text.contains(argument) => row.expect().clone(),
        _ => Object::new().with("schema_refused", text).into(),
    }
}

/// The result without macs. Where a row's own value has a member of that name, the seal stands in its place.
fn without_macs(row: &Row, result: &Object) -> Value {
    let mut bare = result.without("mac");
    for name in ["chosen", "hold"] {
        if let Some(sealed) = result.get(name).and_then(Value::as_object) {
            let own = row.expect().get(name).and_then(|value| value.get("mac"));
            bare.set(name, sealed.without("mac").with_some("mac", own));
        }
    }
    bare.into()
}
