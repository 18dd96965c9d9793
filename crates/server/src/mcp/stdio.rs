//! MCP with one client over a pair of byte streams, such as a process's stdin and stdout.

use std::io;

use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::mpsc,
};

use super::{handler::Handler, lines, operations::Operations, transport::Transport};
use crate::{Caller, Service};

/// How many answers may wait for their reader before no further line is read.
const WAITING_ANSWERS: usize = 64;

/// Speaks MCP with one client, one JSON-RPC message a line, all of whose calls are this caller's, until the reader ends; calls
/// that are in flight then are answered first, within 30 seconds. Every line that asks for an answer gets one, also one that
/// cannot be read. It runs on a tokio runtime with its timer.
///
/// # Errors
///
/// The writer failed: the client no longer listens.
pub async fn serve_stdio(
    service: Service,
    caller: Caller,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
) -> io::Result<()> {
    serve(service, caller, reader, writer).await
}

/// The same over any operations.
pub(super) async fn serve(
    operations: impl Operations,
    caller: Caller,
    reader: impl AsyncRead + Send + Unpin + 'static,
    writer: impl AsyncWrite + Send + Unpin + 'static,
) -> io::Result<()> {
    let (out, answers) = mpsc::channel(WAITING_ANSWERS);
    let writing = tokio::spawn(lines::write(writer, answers));
    // An error here is a client that left before it asked for anything.
    if let Ok(running) = rmcp::serve_server(Handler::for_caller(operations, caller), Transport::new(reader, out)).await {
        running.waiting().await.map_err(io::Error::other)?;
    }
    writing.await.map_err(io::Error::other)?
}
