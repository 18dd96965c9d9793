use std::{fmt, future::Future, time::Duration};

/// The network, as the gate uses it: a whole policy in one method.
///
/// The gate sends only `GET`, never follows a redirect, and reads the body as it was sent.
pub trait Fetch: Send + Sync {
    /// The body of an answer.
    type Body: Body;

    /// Sends one request and answers once the head is there. The deadline covers head and body together: past it, this
    /// or the body fails. Nothing is decompressed and no redirect is followed.
    fn get(&self, request: Request<'_>) -> impl Future<Output = Result<Response<Self::Body>, FetchFailed>> + Send;
}

/// A `GET` request.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The link as the seller wrote it; a fragment is not sent.
    pub url: &'a str,
    /// The headers to send, beside what the connection itself needs.
    pub headers: &'a [(&'a str, &'a str)],
    /// How long head and body may take in all.
    pub deadline: Duration,
    /// How many bytes of body the gate reads at most. A transport need not read further.
    pub body_bound: usize,
}

/// An answer, whose body is not read yet.
#[derive(Debug)]
pub struct Response<B> {
    /// The status code.
    pub status: u16,
    /// The headers as they came, in order; names in any case.
    pub headers: Vec<(String, Vec<u8>)>,
    /// The body.
    pub body: B,
}

/// A body, read piece by piece so that its reader can stop.
pub trait Body: Send {
    /// The next bytes as received, or `None` at the end.
    fn chunk(&mut self) -> impl Future<Output = Result<Option<Vec<u8>>, FetchFailed>> + Send;
}

/// A request failed: no connection, no answer in time, a broken answer, or an address that the policy refuses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchFailed {
    reason: String,
}

impl FetchFailed {
    /// A failure with its reason, for the operator's log; the gate's declines do not carry it.
    pub fn new(reason: impl Into<String>) -> Self {
        Self { reason: reason.into() }
    }
}

impl fmt::Display for FetchFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl std::error::Error for FetchFailed {}

impl<B> Response<B> {
    /// A header's values joined with `, `, or `None` if it is absent. Bytes are read as Latin-1, as header bytes are.
    pub(crate) fn raw_header(&self, name: &str) -> Option<String> {
        let values = self.headers.iter().filter(|(key, _)| key.eq_ignore_ascii_case(name));
        let texts: Vec<String> = values.map(|(_, value)| value.iter().map(|&byte| char::from(byte)).collect()).collect();
        (!texts.is_empty()).then(|| texts.join(", "))
    }

    /// The header without surrounding tab, line feed, carriage return and space.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.raw_header(name).map(|text| text.trim_matches(['\t', '\n', '\r', ' ']).to_owned())
    }
}

/// The header that every request of the gate carries.
pub(crate) const IDENTITY: (&str, &str) = ("Accept-Encoding", "identity");
