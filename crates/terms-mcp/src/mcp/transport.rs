//! The MCP crate's transport over lines, which answers every line.
//!
//! The crate reads messages with a general JSON reader and drops what that cannot read. So a tool's arguments travel past
//! it, as source text beside the request, and results as the text of their one block. It is also handed ids of this
//! transport's own, so that a client's ids go back exactly as written, even one that is used twice at a time.

use std::{collections::HashMap, io, sync::Arc, time::Duration};

use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, ClientRequest, GetExtensions as _, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult},
};
use serde_json::json;
use terms::CancellationToken;
use tokio::{
    io::AsyncRead,
    sync::mpsc,
    time::{Instant, sleep_until},
};

use super::{
    envelope::{self, Fault, Id, Members, Message, code},
    lines::{Line, Lines},
};

/// How long calls that are in flight at the end of the input may take to end by themselves.
const GRACE: Duration = Duration::from_secs(30);

/// The methods that this server serves: to one of them in another form, the answer is not that it is unknown.
const SERVED: [&str; 5] = ["initialize", "ping", "server/discover", "tools/list", "tools/call"];

/// What travels with a request past the MCP crate.
#[derive(Clone)]
pub(super) struct Call {
    /// The source text of a tool's arguments.
    pub(super) arguments: Arc<str>,
    /// Cancelled by the client's `notifications/cancelled` for the request, or by the end of the connection.
    pub(super) cancel: CancellationToken,
}

/// What stands in a result for structured content that is the text of its one block. No tool's result is empty.
pub(super) fn the_text() -> serde_json::Value {
    json!({})
}

pub(super) struct Transport<R> {
    lines: Lines<R>,
    answers: mpsc::Sender<String>,
    pending: HashMap<i64, Pending>,
    requests: i64,
    /// Set at the end of the input: when calls that are still in flight are cancelled.
    end: Option<Instant>,
}

/// A request that is not answered yet.
struct Pending {
    id: Id,
    cancel: CancellationToken,
}

impl<R: AsyncRead + Unpin> Transport<R> {
    pub(super) fn new(reader: R, answers: mpsc::Sender<String>) -> Self {
        Self { lines: Lines::new(reader), answers, pending: HashMap::new(), requests: 0, end: None }
    }

    /// Waits at the end of the input while calls are in flight. The crate asks anew after each answer it sends.
    async fn wait_for_pending(&mut self) {
        let end = *self.end.get_or_insert_with(|| Instant::now() + GRACE);
        if !self.pending.is_empty() {
            sleep_until(end).await;
        }
        self.cancel_all();
    }

    fn cancel_all(&self) {
        self.pending.values().for_each(|pending| pending.cancel.cancel());
    }
}

impl<R> Transport<R> {
    /// What the MCP crate is to see of a line.
    fn read(&mut self, line: &Line) -> Result<Option<ClientJsonRpcMessage>, Fault> {
        let Line::Whole(line) = line else {
            return Err(Fault::new(None, code::INVALID_REQUEST, "The line is longer than 16 MiB."));
        };
        match envelope::read(line)? {
            Some(Message::Request { id, method, params }) => self.request(id, &method, params).map(Some),
            Some(Message::Notification { method, params }) if method == "notifications/cancelled" => {
                self.cancelled(params);
                Ok(None)
            }
            // The server does nothing on any other notification, and the crate ends a session that opens with one.
            Some(Message::Notification { .. } | Message::Answer) | None => Ok(None),
        }
    }

    fn request(&mut self, id: Id, method: &str, params: &str) -> Result<ClientJsonRpcMessage, Fault> {
        let fault = |code, message| Fault::new(Some(id.clone()), code, message);
        let members = Members::read(params).ok_or_else(|| fault(code::INVALID_PARAMS, "The parameters are not an object."))?;
        let (params, arguments) = match method {
            "tools/call" => (members.with("arguments", "{}"), members.get("arguments").unwrap_or("{}")),
            _ => (params.to_owned(), "{}"),
        };
        let request = serde_json::from_str(&format!(r#"{{"method":{},"params":{params}}}"#, json!(method)));
        let mut request: ClientRequest = request.map_err(|_| fault(code::INVALID_REQUEST, "The request cannot be read."))?;
        if matches!(request, ClientRequest::CustomRequest(_)) && SERVED.contains(&method) {
            return Err(fault(code::INVALID_PARAMS, "The parameters are not those of the method."));
        }
        let cancel = CancellationToken::new();
        request.extensions_mut().insert(Call { arguments: arguments.into(), cancel: cancel.clone() });
        self.requests += 1;
        self.pending.insert(self.requests, Pending { id, cancel });
        Ok(JsonRpcMessage::request(request, RequestId::Number(self.requests)))
    }

    /// Cancels a request, which is then not answered.
    fn cancelled(&mut self, params: &str) {
        let id = Members::read(params).and_then(|members| Id::read(members.get("requestId")?));
        self.pending.retain(|_, pending| {
            let cancelled = id.as_ref() == Some(&pending.id);
            if cancelled {
                pending.cancel.cancel();
            }
            !cancelled
        });
    }

    /// The line of an answer, or `None` if its request was cancelled. The server sends nothing else.
    fn answer(&mut self, message: ServerJsonRpcMessage) -> Option<String> {
        let (number, answer) = match message {
            JsonRpcMessage::Response(response) => (response.id, result_text(response.result).map(|result| format!(r#""result":{result}"#))),
            JsonRpcMessage::Error(error) => (error.id?, serde_json::to_string(&error.error).map(|error| format!(r#""error":{error}"#))),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => return None,
        };
        let RequestId::Number(number) = number else { return None };
        let Pending { id, .. } = self.pending.remove(&number)?;
        Some(match answer {
            Ok(answer) => format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#),
            Err(_) => fault_line(&Fault::new(Some(id), code::INTERNAL_ERROR, "The answer cannot be written.")),
        })
    }
}

fn fault_line(fault: &Fault) -> String {
    let id = fault.id.as_ref().map_or_else(|| "null".to_owned(), Id::to_string);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{}}}"#, json!({ "code": fault.code, "message": fault.message }))
}

/// The text of a result, where structured content that stands for a text becomes that text.
fn result_text(result: ServerResult) -> serde_json::Result<String> {
    let ServerResult::CallToolResult(mut result) = result else { return serde_json::to_string(&result) };
    let structured = result.structured_content.take_if(|structured| *structured == the_text());
    let text = serde_json::to_string(&result)?;
    let block = result.content.first().and_then(|block| block.as_text()).filter(|_| structured.is_some());
    Ok(match (block, text.strip_suffix('}')) {
        (Some(block), Some(members)) => format!(r#"{members},"structuredContent":{}}}"#, block.text),
        _ => text,
    })
}

impl<R: AsyncRead + Send + Unpin + 'static> rmcp::transport::Transport<RoleServer> for Transport<R> {
    type Error = io::Error;

    fn send(&mut self, message: ServerJsonRpcMessage) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answer = self.answer(message);
        let answers = self.answers.clone();
        async move {
            match answer {
                Some(answer) => answers.send(answer).await.map_err(|_| io::ErrorKind::BrokenPipe.into()),
                None => Ok(()),
            }
        }
    }

    /// The next request. The crate may drop this future at any of its waits, so none stands between taking a line and
    /// returning or answering it.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        while self.end.is_none() {
            // Nothing is read while the answers before are not, and no longer than they are.
            let answers = self.answers.clone();
            let place = answers.reserve().await.ok()?;
            let line = tokio::select! {
                biased;
                () = answers.closed() => return None,
                line = self.lines.next() => line,
            };
            let Ok(Some(line)) = line else { break };
            match self.read(&line) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err(fault) => place.send(fault_line(&fault)),
            }
        }
        self.wait_for_pending().await;
        None
    }

    async fn close(&mut self) -> io::Result<()> {
        self.cancel_all();
        Ok(())
    }
}
