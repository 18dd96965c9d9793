//! The MCP crate's transport over lines, which answers every line that asks for an answer.
//!
//! The crate is handed ids of this transport's own, so that an id that is used twice at a time is answered twice.

use std::{collections::HashMap, io, time::Duration};

use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, GetExtensions as _, JsonRpcMessage, RequestId, ServerJsonRpcMessage},
};
use tokio::{
    io::AsyncRead,
    sync::mpsc,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    lines::{Line, Lines},
    message::{self, Fault, Message, code},
};

/// How long calls that are in flight at the end of the input may take to end by themselves; the longest poll is shorter.
const GRACE: Duration = Duration::from_secs(30);

/// What travels with a request past the MCP crate.
#[derive(Clone)]
pub(super) struct Call {
    /// Cancelled by the client's `notifications/cancelled` for the request, or by the end of the connection.
    pub(super) cancel: CancellationToken,
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
    id: RequestId,
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
        let line = match line {
            Line::Whole(line) => line.trim_ascii(),
            Line::TooLong => return Err(Fault::new(None, code::INVALID_REQUEST, "The line is longer than 16 MiB.")),
        };
        if line.is_empty() {
            return Ok(None);
        }
        match message::read(line)? {
            Message::Request(id, mut request) => {
                let cancel = CancellationToken::new();
                request.extensions_mut().insert(Call { cancel: cancel.clone() });
                self.requests += 1;
                self.pending.insert(self.requests, Pending { id, cancel });
                Ok(Some(JsonRpcMessage::request(*request, RequestId::Number(self.requests))))
            }
            Message::Cancel(id) => {
                self.cancelled(&id);
                Ok(None)
            }
            // The crate ends a session that opens with a notification, and the server does nothing on any.
            Message::Other => Ok(None),
        }
    }

    /// Cancels a request, which is then not answered.
    fn cancelled(&mut self, id: &RequestId) {
        self.pending.retain(|_, pending| {
            let cancelled = *id == pending.id;
            if cancelled {
                pending.cancel.cancel();
            }
            !cancelled
        });
    }

    /// The line of an answer, or `None` if its request was cancelled. The server sends nothing else.
    fn answer(&mut self, mut message: ServerJsonRpcMessage) -> Option<String> {
        let number = match &message {
            JsonRpcMessage::Response(response) => response.id.clone(),
            JsonRpcMessage::Error(error) => error.id.clone()?,
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => return None,
        };
        let RequestId::Number(number) = number else { return None };
        let Pending { id, .. } = self.pending.remove(&number)?;
        match &mut message {
            JsonRpcMessage::Response(response) => response.id = id.clone(),
            JsonRpcMessage::Error(error) => error.id = Some(id.clone()),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => return None,
        }
        let written = serde_json::to_string(&message);
        Some(written.unwrap_or_else(|_| Fault::new(Some(id), code::INTERNAL_ERROR, "The answer cannot be written.").to_text()))
    }
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
                Err(fault) => place.send(fault.to_text()),
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
