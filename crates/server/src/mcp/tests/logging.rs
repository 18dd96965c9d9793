//! Nothing of arguments or results is logged, whatever listens.

use std::{
    fmt::{Debug, Write as _},
    sync::{Arc, Mutex},
};

use control::access::Role;
use tower::ServiceExt as _;
use tracing::{
    Event, Metadata, Subscriber,
    field::{Field, Visit},
    span,
};

use super::{
    FITTING,
    client::Client,
    desk::{Desk, caller},
};
use crate::mcp::{McpSettings, http};

/// A subscriber that wants everything and keeps all fields.
#[derive(Clone, Default)]
struct Listening(Arc<Mutex<String>>);

impl Visit for Listening {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        writeln!(self.0.lock().unwrap(), "{field}={value:?}").unwrap();
    }
}

impl Subscriber for Listening {
    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        span.record(&mut self.clone());
        span::Id::from_u64(1)
    }

    fn record(&self, _span: &span::Id, values: &span::Record<'_>) {
        values.record(&mut self.clone());
    }

    fn record_follows_from(&self, _span: &span::Id, _follows: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn enter(&self, _span: &span::Id) {}

    fn exit(&self, _span: &span::Id) {}
}

#[tokio::test]
async fn arguments_and_results_are_in_no_log() {
    let listening = Listening::default();
    let _guard = tracing::subscriber::set_default(listening.clone());
    let mut client = Client::agent(Desk::usual()).await;
    for (tool, arguments) in FITTING {
        client.call(tool, arguments).await;
    }
    client.refused("get_record", r#"{"record_id":"4242 4242 4242 4242"}"#).await;
    client.request("tools/call", r#"{"name":"4242 4242 4242 4242"}"#).await;
    client.send(r#"{"jsonrpc":"2.0","method":"notifications/4242424242424242","params":{"note":"4242424242424242"}}"#).await;
    client.end().await;
    for body in [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"request_payment","arguments":{"purpose":"4242424242424242"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/4242424242424242","params":{"note":"4242424242424242"}}"#,
    ] {
        let request = axum::http::Request::post("/").header("host", "127.0.0.1").header("accept", "application/json, text/event-stream");
        let request = request.header("content-type", "application/json").extension(caller(Role::Agent)).body(axum::body::Body::from(body)).unwrap();
        http::routes(Desk::usual(), McpSettings::loopback()).oneshot(request).await.unwrap();
    }
    tracing::warn!(heard = true);
    let heard = listening.0.lock().unwrap().clone();
    assert!(heard.contains("heard=true"), "warnings are heard");
    for text in ["4242", "tok_sandbox", "e30", "reamandrule", "paper"] {
        assert!(!heard.contains(text), "{heard}");
    }
}
