//! The binary's network: https, to public addresses only.
//!
//! A link's host is parsed once and resolved once. Every address it has is judged, and the connection goes to one of
//! these very addresses, so no later answer of a name server can turn it elsewhere.

use std::{
    io,
    net::IpAddr,
    path::PathBuf,
    pin::{Pin, pin},
    sync::Arc,
};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::{
    body::Incoming,
    client::conn::http1,
    header::{HOST, HeaderName, HeaderValue},
};
use hyper_util::rt::TokioIo;
use terms::{Body, Fetch, FetchFailed, Request, Response};
use tokio::{
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{
        ClientConfig, RootCertStore,
        crypto::ring,
        pki_types::{CertificateDer, ServerName, pem::PemObject},
    },
};

use crate::address::{Host, Net, may_connect};

/// Most headers of an answer.
const MAX_HEADERS: usize = 128;

/// Most bytes of an answer's head: twice what the longest header that the gate reads may have.
const MAX_HEAD: usize = 2 * 65_536;

/// What the operator adds to public addresses and public certificate authorities.
#[derive(Debug, Default)]
pub(crate) struct Allowed {
    /// Networks that count as public.
    pub(crate) nets: Vec<Net>,
    /// PEM files of certificates to trust as roots.
    pub(crate) ca_certs: Vec<PathBuf>,
}

/// A [`Fetch`] that reaches only public addresses, over TLS 1.2 or 1.3 and HTTP/1.1, one connection per request.
pub(crate) struct PublicFetch<R = System> {
    resolver: R,
    nets: Vec<Net>,
    tls: TlsConnector,
}

/// Names to addresses.
pub(crate) trait Resolve: Send + Sync {
    /// All addresses of a name.
    fn resolve(&self, name: &str) -> impl Future<Output = io::Result<Vec<IpAddr>>> + Send;
}

/// The operating system's resolver.
pub(crate) struct System;

impl Resolve for System {
    async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((name, 443)).await?.map(|address| address.ip()).collect())
    }
}

impl PublicFetch {
    /// Fails, with a sentence for the operator, on a file without a readable certificate.
    pub(crate) fn new(allowed: Allowed) -> Result<Self, String> {
        Self::with_resolver(System, allowed)
    }
}

impl<R> PublicFetch<R> {
    fn with_resolver(resolver: R, allowed: Allowed) -> Result<Self, String> {
        let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
        for file in &allowed.ca_certs {
            let refused = |why: String| format!("{}: {why}", file.display());
            let mut found = false;
            for certificate in CertificateDer::pem_file_iter(file).map_err(|error| refused(error.to_string()))? {
                let certificate = certificate.map_err(|error| refused(error.to_string()))?;
                roots.add(certificate).map_err(|error| refused(error.to_string()))?;
                found = true;
            }
            if !found {
                return Err(refused("holds no certificate".to_owned()));
            }
        }
        let mut config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { resolver, nets: allowed.nets, tls: TlsConnector::from(Arc::new(config)) })
    }
}

impl<R: Resolve> Fetch for PublicFetch<R> {
    type Body = PublicBody;

    async fn get(&self, request: Request<'_>) -> Result<Response<PublicBody>, FetchFailed> {
        let deadline = Instant::now().checked_add(request.deadline).ok_or_else(|| FetchFailed::new("the deadline is out of range"))?;
        timeout_at(deadline, self.send(request, deadline)).await.map_err(|_| late())?
    }
}

impl<R: Resolve> PublicFetch<R> {
    async fn send(&self, request: Request<'_>, deadline: Instant) -> Result<Response<PublicBody>, FetchFailed> {
        let target = Target::parse(request.url).ok_or_else(|| FetchFailed::new("not an https link"))?;
        let message = target.message(request.headers)?;
        let server_name = target.server_name()?;
        let addresses = self.addresses(&target.host).await?;
        let tcp = connect(&addresses, target.port, deadline).await?;
        let tls = self.tls.connect(server_name, tcp).await.map_err(|error| failed("TLS", &error))?;

        let handshake = http1::Builder::new().max_headers(MAX_HEADERS).max_buf_size(MAX_HEAD).handshake(TokioIo::new(tls)).await;
        let (mut sender, connection) = handshake.map_err(|error| failed("HTTP", &error))?;
        let mut connection = Connection(Some(connection));
        let response = connection.drive(sender.send_request(message)).await.map_err(|error| failed("HTTP", &error))?;

        let (head, incoming) = response.into_parts();
        Ok(Response {
            status: head.status.as_u16(),
            headers: head.headers.iter().map(|(name, value)| (name.to_string(), value.as_bytes().to_vec())).collect(),
            body: PublicBody { connection, incoming, deadline, left: request.body_bound.saturating_add(1) },
        })
    }

    /// The addresses that a connection may go to: all that the host has, or none of them.
    async fn addresses(&self, host: &Host) -> Result<Vec<IpAddr>, FetchFailed> {
        let addresses = match host {
            Host::Address(address) => vec![*address],
            Host::Name(name) => self.resolver.resolve(name).await.map_err(|error| failed("resolving the host", &error))?,
        };
        if addresses.is_empty() {
            return Err(FetchFailed::new("the host has no address"));
        }
        match addresses.iter().find(|&&address| !may_connect(address, &self.nets)) {
            Some(address) => Err(FetchFailed::new(format!("{address}, an address of the host, is not public"))),
            None => Ok(addresses),
        }
    }
}

/// Connects to the first address that answers.
async fn connect(addresses: &[IpAddr], port: u16, deadline: Instant) -> Result<TcpStream, FetchFailed> {
    let mut failure = late();
    for (index, &address) in addresses.iter().enumerate() {
        // An address that stays silent must leave time for those behind it.
        let untried = u32::try_from(addresses.len() - index).unwrap_or(u32::MAX);
        let share = deadline.saturating_duration_since(Instant::now()) / untried;
        match timeout(share, TcpStream::connect((address, port))).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => failure = failed("connecting", &error),
            Err(_) => failure = late(),
        }
    }
    Err(failure)
}

fn failed(doing: &str, error: &dyn std::error::Error) -> FetchFailed {
    FetchFailed::new(format!("{doing}: {error}"))
}

fn late() -> FetchFailed {
    FetchFailed::new("no answer within the deadline")
}

/// What a link asks for.
struct Target {
    host: Host,
    port: u16,
    /// The path and the query, in the form that a request line takes.
    path: String,
}

impl Target {
    fn parse(link: &str) -> Option<Self> {
        let (scheme, rest) = link.split_at_checked("https://".len())?;
        if !scheme.eq_ignore_ascii_case("https://") {
            return None;
        }
        let (authority, path) = rest.split_at(rest.find(['/', '?', '#']).unwrap_or(rest.len()));
        let digits_behind = |(_, port): &(&str, &str)| port.bytes().all(|b| b.is_ascii_digit());
        let (host, port) = authority.rsplit_once(':').filter(digits_behind).unwrap_or((authority, ""));
        let port = match port {
            "" => 443,
            digits => Some(digits).filter(|digits| digits.len() <= 5)?.parse().ok()?,
        };
        // The URL parser makes the path what every client sends for it. It must not see the host, whose
        // internationalized labels it would judge by a newer rule than the links are.
        let url = url::Url::parse(&format!("https://host{path}")).ok()?;
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        Some(Self { host: Host::parse(host)?, port, path: path.to_owned() })
    }

    /// The request: its headers are these and `Host`, nothing else.
    fn message(&self, headers: &[(&str, &str)]) -> Result<hyper::Request<Empty<Bytes>>, FetchFailed> {
        let host = if self.port == 443 { self.host.to_string() } else { format!("{}:{}", self.host, self.port) };
        let mut message = hyper::Request::get(&self.path).header(HOST, host);
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| failed("a header's name", &error))?;
            let value = HeaderValue::from_str(value).map_err(|error| failed("a header's value", &error))?;
            message = message.header(name, value);
        }
        message.body(Empty::new()).map_err(|error| failed("the request", &error))
    }

    /// The name that the server's certificate must have.
    fn server_name(&self) -> Result<ServerName<'static>, FetchFailed> {
        match &self.host {
            Host::Address(address) => Ok(ServerName::from(*address)),
            // Certificates write no final dot.
            Host::Name(name) => ServerName::try_from(name.strip_suffix('.').unwrap_or(name).to_owned()).map_err(|error| failed("the host", &error)),
        }
    }
}

/// A connection that makes progress only while something is awaited on it, and ends when it is dropped.
struct Connection(Option<Http>);

type Http = http1::Connection<TokioIo<TlsStream<TcpStream>>, Empty<Bytes>>;

impl Connection {
    /// Waits for what comes over the connection.
    async fn drive<T>(&mut self, awaited: impl Future<Output = T>) -> T {
        let mut awaited = pin!(awaited);
        std::future::poll_fn(|context| {
            // How the connection ends shows in what is awaited on it.
            if self.0.as_mut().is_some_and(|connection| Pin::new(connection).poll(context).is_ready()) {
                self.0 = None;
            }
            awaited.as_mut().poll(context)
        })
        .await
    }
}

/// The body of an answer. Dropping it closes the connection.
pub(crate) struct PublicBody {
    connection: Connection,
    incoming: Incoming,
    deadline: Instant,
    /// How many bytes may still be handed out: one more than the bound, so that its reader sees it passed.
    left: usize,
}

impl Body for PublicBody {
    async fn chunk(&mut self) -> Result<Option<Vec<u8>>, FetchFailed> {
        if self.left == 0 {
            return Err(FetchFailed::new("the body is larger than its bound"));
        }
        loop {
            let frame = timeout_at(self.deadline, self.connection.drive(self.incoming.frame())).await.map_err(|_| late())?;
            let Some(frame) = frame else { return Ok(None) };
            let frame = frame.map_err(|error| failed("the body", &error))?;
            // Trailers are passed over.
            if let Ok(mut data) = frame.into_data()
                && !data.is_empty()
            {
                data.truncate(self.left);
                self.left -= data.len();
                if self.left == 0 {
                    self.connection = Connection(None);
                }
                return Ok(Some(data.into()));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        path::Path,
        sync::atomic::{AtomicUsize, Ordering},
        time::Duration,
    };

    use proptest::prelude::*;
    use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
        sync::mpsc,
    };
    use tokio_rustls::{
        TlsAcceptor,
        rustls::{self, ServerConfig, pki_types::PrivateKeyDer},
        server,
    };

    use super::*;

    const LONG: Duration = Duration::from_secs(20);
    const SHORT: Duration = Duration::from_millis(50);

    /// A file that goes away with its test.
    struct TempFile(PathBuf);

    impl TempFile {
        fn new(content: &str) -> Self {
            static COUNT: AtomicUsize = AtomicUsize::new(0);
            let name = format!("terms-mcp-{}-{}.pem", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let path = std::env::temp_dir().join(name);
            fs::write(&path, content).unwrap();
            Self(path)
        }
    }

    impl Drop for TempFile {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    /// A TLS server on loopback, for `Seller.example` and `127.0.0.1`, whose certificate an own authority signed.
    struct Server {
        port: u16,
        ca: TempFile,
        /// The heads of the requests it got.
        heads: mpsc::UnboundedReceiver<String>,
        /// Something for each answer that came to its end, be it that the client closed the connection.
        ended: mpsc::UnboundedReceiver<()>,
        accepted: Arc<AtomicUsize>,
    }

    type Stream = server::TlsStream<TcpStream>;

    impl Server {
        async fn start<F: Future<Output = ()> + Send + 'static>(answer: fn(Stream) -> F) -> Self {
            Self::with_versions(rustls::ALL_VERSIONS, answer).await
        }

        async fn with_versions<F: Future<Output = ()> + Send + 'static>(
            versions: &[&'static rustls::SupportedProtocolVersion],
            answer: fn(Stream) -> F,
        ) -> Self {
            let ca_key = KeyPair::generate().unwrap();
            let mut ca = CertificateParams::new([]).unwrap();
            ca.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
            let ca_file = TempFile::new(&ca.self_signed(&ca_key).unwrap().pem());
            let key = KeyPair::generate().unwrap();
            let names = ["Seller.example".to_owned(), "127.0.0.1".to_owned()];
            let leaf = CertificateParams::new(names).unwrap().signed_by(&key, &Issuer::new(ca, ca_key)).unwrap();
            let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
                .with_protocol_versions(versions)
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(vec![leaf.der().clone()], PrivateKeyDer::try_from(key.serialize_der()).unwrap())
                .unwrap();
            let acceptor = TlsAcceptor::from(Arc::new(config));

            let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
            let port = listener.local_addr().unwrap().port();
            let (head_sender, heads) = mpsc::unbounded_channel();
            let (end_sender, ended) = mpsc::unbounded_channel();
            let accepted = Arc::new(AtomicUsize::new(0));
            let count = Arc::clone(&accepted);
            tokio::spawn(async move {
                while let Ok((tcp, _)) = listener.accept().await {
                    count.fetch_add(1, Ordering::SeqCst);
                    let Ok(mut stream) = acceptor.accept(tcp).await else { continue };
                    let mut head = Vec::new();
                    while !head.ends_with(b"\r\n\r\n") {
                        head.push(stream.read_u8().await.unwrap());
                    }
                    head_sender.send(String::from_utf8(head).unwrap()).unwrap();
                    answer(stream).await;
                    end_sender.send(()).unwrap();
                }
            });
            Self { port, ca: ca_file, heads, ended, accepted }
        }

        /// A fetch that trusts this server and may reach loopback.
        fn fetch<R>(&self, resolver: R) -> PublicFetch<R> {
            self.fetch_within(resolver, &["127.0.0.0/8"])
        }

        fn fetch_within<R>(&self, resolver: R, nets: &[&str]) -> PublicFetch<R> {
            let nets = nets.iter().map(|net| net.parse().unwrap()).collect();
            PublicFetch::with_resolver(resolver, Allowed { nets, ca_certs: vec![self.ca.0.clone()] }).unwrap()
        }

        fn link(&self) -> String {
            format!("https://seller.example:{}/atr", self.port)
        }

        fn connections(&self) -> usize {
            self.accepted.load(Ordering::SeqCst)
        }
    }

    /// Answers with these bytes and ends the connection.
    macro_rules! answer {
        ($($bytes:expr),+) => {
            Server::start(|mut stream| async move {
                $(let _ = stream.write_all($bytes).await;)+
                let _ = stream.shutdown().await;
            })
        };
    }

    /// A resolver that knows these addresses for every name.
    struct Fixed(Vec<IpAddr>, AtomicUsize);

    impl Fixed {
        fn new(addresses: &[&str]) -> Self {
            Self(addresses.iter().map(|address| address.parse().unwrap()).collect(), AtomicUsize::new(0))
        }
    }

    impl Resolve for Fixed {
        async fn resolve(&self, _name: &str) -> io::Result<Vec<IpAddr>> {
            self.1.fetch_add(1, Ordering::SeqCst);
            Ok(self.0.clone())
        }
    }

    fn loopback() -> Fixed {
        Fixed::new(&["127.0.0.1"])
    }

    fn ask(url: &str) -> Request<'_> {
        Request { url, headers: &[("Accept-Encoding", "identity")], deadline: LONG, body_bound: 1 << 20 }
    }

    async fn whole(mut body: PublicBody) -> Result<Vec<u8>, FetchFailed> {
        let mut bytes = Vec::new();
        while let Some(chunk) = body.chunk().await? {
            bytes.extend(chunk);
        }
        Ok(bytes)
    }

    #[tokio::test]
    async fn reads_an_answer_as_it_was_sent() {
        let mut server =
            answer!(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nX-Raw: \xE9\xFF\r\nx-raw: 2\r\nContent-Length: 5\r\n\r\n", b"\x1f\x8b\0\xff!")
                .await;
        let fetch = server.fetch(loopback());
        let response = fetch.get(ask(&format!("HTTPS://Seller.Example:{}/a/../b//c?q=\u{e9}'{{#fragment", server.port))).await.unwrap();
        assert_eq!(response.status, 200);
        let header = |name: &str, value: &[u8]| (name.to_owned(), value.to_vec());
        assert_eq!(
            response.headers,
            [header("content-encoding", b"gzip"), header("x-raw", b"\xE9\xFF"), header("x-raw", b"2"), header("content-length", b"5")]
        );
        assert_eq!(whole(response.body).await.unwrap(), b"\x1f\x8b\0\xff!");
        let head = format!("GET /b//c?q=%C3%A9%27{{ HTTP/1.1\r\nhost: Seller.Example:{}\r\naccept-encoding: identity\r\n\r\n", server.port);
        assert_eq!(server.heads.recv().await.unwrap(), head);
        assert_eq!(fetch.resolver.1.load(Ordering::SeqCst), 1);
    }

    #[tokio::test]
    async fn speaks_tls_1_2_too() {
        let server = Server::with_versions(&[&rustls::version::TLS12], |mut stream| async move {
            let _ = stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").await;
        })
        .await;
        assert_eq!(server.fetch(loopback()).get(ask(&server.link())).await.unwrap().status, 204);
    }

    #[tokio::test]
    async fn reads_chunks_behind_an_early_hint() {
        let server = answer!(
            b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 402 Pay\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
            b"2;x=y\r\nde\r\n0\r\nTrailer: t\r\n\r\n"
        )
        .await;
        let response = server.fetch(loopback()).get(ask(&server.link())).await.unwrap();
        assert_eq!(response.status, 402);
        assert_eq!(whole(response.body).await.unwrap(), b"abcde");
    }

    #[tokio::test]
    async fn reads_to_the_end_of_the_connection() {
        let server = answer!(b"HTTP/1.0 200 OK\r\n\r\nabc").await;
        let response = server.fetch(loopback()).get(ask(&server.link())).await.unwrap();
        assert_eq!(whole(response.body).await.unwrap(), b"abc");
    }

    #[tokio::test]
    async fn a_body_shorter_than_its_content_length_fails() {
        let server = answer!(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nabc").await;
        let response = server.fetch(loopback()).get(ask(&server.link())).await.unwrap();
        assert!(whole(response.body).await.is_err());
    }

    #[tokio::test]
    async fn a_body_ends_at_its_content_length() {
        let server = answer!(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc").await;
        let response = server.fetch(loopback()).get(ask(&server.link())).await.unwrap();
        assert_eq!(whole(response.body).await.unwrap(), b"ab");
    }

    /// Writes for as long as somebody reads.
    async fn endless(mut stream: Stream) {
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await;
        while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
    }

    #[tokio::test]
    async fn an_endless_body_is_cut_behind_its_bound() {
        let mut server = Server::start(endless).await;
        let fetch = server.fetch(loopback());
        let mut body = fetch.get(Request { body_bound: 100_000, ..ask(&server.link()) }).await.unwrap().body;
        let mut read = 0;
        let end = loop {
            match body.chunk().await {
                Ok(Some(chunk)) => read += chunk.len(),
                end => break end,
            }
        };
        assert_eq!(read, 100_001);
        assert_eq!(end, Err(FetchFailed::new("the body is larger than its bound")));
        server.ended.recv().await.unwrap();
    }

    #[tokio::test]
    async fn a_body_at_its_bound_is_whole() {
        let server = answer!(b"HTTP/1.1 200 OK\r\n\r\nabc").await;
        let response = server.fetch(loopback()).get(Request { body_bound: 3, ..ask(&server.link()) }).await.unwrap();
        assert_eq!(whole(response.body).await.unwrap(), b"abc");
    }

    #[tokio::test]
    async fn dropping_the_body_closes_the_connection() {
        let mut server = Server::start(endless).await;
        let fetch = server.fetch(loopback());
        let mut body = fetch.get(ask(&server.link())).await.unwrap().body;
        assert!(body.chunk().await.unwrap().is_some());
        drop(body);
        server.ended.recv().await.unwrap();
    }

    #[tokio::test]
    async fn the_deadline_covers_head_and_body() {
        let silent = Server::start(|stream| async move {
            let _open = stream;
            std::future::pending::<()>().await;
        })
        .await;
        assert_eq!(silent.fetch(loopback()).get(Request { deadline: SHORT, ..ask(&silent.link()) }).await.err(), Some(late()));

        let stalling = Server::start(|mut stream| async move {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na").await;
            let _ = stream.flush().await;
            std::future::pending::<()>().await;
        })
        .await;
        // Time for the handshake even on a busy machine.
        let deadline = Duration::from_secs(1);
        let response = stalling.fetch(loopback()).get(Request { deadline, ..ask(&stalling.link()) }).await.unwrap();
        assert_eq!(whole(response.body).await, Err(late()));
    }

    #[tokio::test]
    async fn a_server_without_tls_runs_into_the_deadline() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let server = answer!(b"").await;
        let link = format!("https://seller.example:{}/", listener.local_addr().unwrap().port());
        assert_eq!(server.fetch(loopback()).get(Request { deadline: SHORT, ..ask(&link) }).await.err(), Some(late()));
        assert!(server.fetch(loopback()).get(Request { deadline: Duration::MAX, ..ask(&link) }).await.is_err());
    }

    #[tokio::test]
    async fn a_redirect_is_not_followed() {
        let server = answer!(b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n").await;
        let response = server.fetch(loopback()).get(ask(&server.link())).await.unwrap();
        assert_eq!(response.status, 302);
        assert_eq!(response.headers[0], ("location".to_owned(), b"/elsewhere".to_vec()));
        assert_eq!(whole(response.body).await.unwrap(), b"");
        assert_eq!(server.connections(), 1);
    }

    #[tokio::test]
    async fn one_address_that_is_not_public_refuses_them_all() {
        let server = answer!(b"HTTP/1.1 200 OK\r\n\r\n").await;
        let link = server.link();
        for addresses in [&["127.0.0.1", "10.0.0.1"][..], &["8.8.8.8", "127.0.0.1", "::1"], &["127.0.0.1", "::ffff:192.168.0.1"], &["64:ff9b::a00:1"]]
        {
            let failed = server.fetch(Fixed::new(addresses)).get(ask(&link)).await.err().unwrap();
            assert!(failed.to_string().ends_with("is not public"), "{failed}");
        }
        for addresses in [&["127.0.0.1"][..], &["8.8.8.8", "127.0.0.1"], &["::ffff:127.0.0.1"], &["::1"]] {
            let failed = server.fetch_within(Fixed::new(addresses), &[]).get(ask(&link)).await.err().unwrap();
            assert!(failed.to_string().ends_with("is not public"), "{failed}");
        }
        assert_eq!(server.fetch(Fixed::new(&[])).get(ask(&link)).await.err(), Some(FetchFailed::new("the host has no address")));
        assert_eq!(server.connections(), 0);
    }

    #[tokio::test]
    async fn address_literals_are_judged_before_any_connection() {
        let mut server = answer!(b"HTTP/1.1 204 No Content\r\n\r\n").await;
        let port = server.port;
        let closed = server.fetch_within(loopback(), &[]);
        for host in [
            "127.0.0.1",
            "127.0.0.1.",
            "127.1",
            "127.0.1",
            "0x7f.1",
            "0x7F000001",
            "2130706433",
            "017700000001",
            "0177.0.0.1",
            "0",
            "[::1]",
            "[::ffff:127.0.0.1]",
            "[::ffff:7f00:1]",
            "[64:ff9b::7f00:1]",
            "10.0.0.1",
            "169.254.169.254",
            "[fe80::1]",
            "[::]",
        ] {
            let failed = closed.get(ask(&format!("https://{host}:{port}/"))).await.err().unwrap();
            assert!(failed.to_string().ends_with("is not public"), "{host}: {failed}");
        }
        assert_eq!(server.connections(), 0);

        let open = server.fetch(loopback());
        for host in ["127.0.0.1", "0x7f.1", "2130706433"] {
            assert_eq!(open.get(ask(&format!("https://{host}:{port}"))).await.unwrap().status, 204, "{host}");
            let head = format!("GET / HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\naccept-encoding: identity\r\n\r\n");
            assert_eq!(server.heads.recv().await.unwrap(), head);
        }
        assert_eq!(closed.resolver.1.load(Ordering::SeqCst) + open.resolver.1.load(Ordering::SeqCst), 0);
    }

    #[tokio::test]
    async fn localhost_is_resolved_and_refused() {
        let failed = PublicFetch::new(Allowed::default()).unwrap().get(ask("https://localhost/")).await.err().unwrap();
        assert!(failed.to_string().ends_with("is not public"), "{failed}");
    }

    #[tokio::test]
    async fn tries_the_next_address() {
        let server = answer!(b"HTTP/1.1 204 No Content\r\n\r\n").await;
        let fetch = server.fetch(Fixed::new(&["127.0.0.2", "127.0.0.1"]));
        assert_eq!(fetch.get(ask(&server.link())).await.unwrap().status, 204);
    }

    #[tokio::test]
    async fn the_certificate_must_be_trusted_and_name_the_host() {
        let server = answer!(b"HTTP/1.1 204 No Content\r\n\r\n").await;
        let nets = || vec!["127.0.0.0/8".parse().unwrap()];
        let stranger = PublicFetch::with_resolver(loopback(), Allowed { nets: nets(), ca_certs: vec![] }).unwrap();
        let failed = stranger.get(ask(&server.link())).await.err().unwrap().to_string();
        assert!(failed.contains("UnknownIssuer"), "{failed}");
        let other = format!("https://other.example:{}/", server.port);
        let failed = server.fetch(loopback()).get(ask(&other)).await.err().unwrap().to_string();
        assert!(failed.contains("not valid for name"), "{failed}");
        // The final dot belongs to the name that is resolved and asked for, not to the certificate's.
        let rooted = format!("https://seller.example.:{}/", server.port);
        assert_eq!(server.fetch(loopback()).get(ask(&rooted)).await.unwrap().status, 204);
    }

    #[test]
    fn a_file_without_a_certificate_is_refused() {
        let refusal = |path: &Path| PublicFetch::new(Allowed { nets: vec![], ca_certs: vec![path.to_owned()] }).err().unwrap();
        assert!(refusal(Path::new("/no/such/file")).contains("/no/such/file"));
        let empty = TempFile::new("no certificate\n");
        assert!(refusal(&empty.0).ends_with("holds no certificate"));
        let key_only = TempFile::new(&KeyPair::generate().unwrap().serialize_pem());
        assert!(refusal(&key_only.0).ends_with("holds no certificate"));
        let broken = TempFile::new("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
        refusal(&broken.0);
    }

    #[tokio::test]
    async fn the_head_is_bounded() {
        let longest_read = Server::start(|mut stream| async move {
            let head = format!("HTTP/1.1 402 Pay\r\nPayment-Required: {}\r\nContent-Length: 0\r\n\r\n", "x".repeat(65_536));
            let _ = stream.write_all(head.as_bytes()).await;
        })
        .await;
        let response = longest_read.fetch(loopback()).get(ask(&longest_read.link())).await.unwrap();
        assert_eq!(response.headers[0].1.len(), 65_536);

        let too_long = Server::start(|mut stream| async move {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX: ").await;
            while stream.write_all(&[b'x'; 4096]).await.is_ok() {}
        })
        .await;
        assert!(too_long.fetch(loopback()).get(ask(&too_long.link())).await.is_err());

        let too_many = Server::start(|mut stream| async move {
            let head = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(MAX_HEADERS + 1));
            let _ = stream.write_all(head.as_bytes()).await;
        })
        .await;
        assert!(too_many.fetch(loopback()).get(ask(&too_many.link())).await.is_err());
    }

    #[tokio::test]
    async fn a_long_request_header_is_sent_whole() {
        let mut server = answer!(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
        let payment = "A".repeat(300_000);
        let headers = [("PAYMENT-SIGNATURE", payment.as_str())];
        server.fetch(loopback()).get(Request { headers: &headers, ..ask(&server.link()) }).await.unwrap();
        assert!(server.heads.recv().await.unwrap().ends_with(&format!("payment-signature: {payment}\r\n\r\n")));
    }

    #[tokio::test]
    async fn refuses_what_is_no_request() {
        let fetch = PublicFetch::with_resolver(loopback(), Allowed::default()).unwrap();
        for link in [
            "http://seller.example/",
            "seller.example",
            "https:/seller.example/",
            "https://",
            "https:///seller.example",
            "https://user@seller.example/",
            "https://user:1@seller.example/",
            "https://seller.example:65536/",
            "https://seller.example:000443/",
            "https://seller.example:80a/",
            "https://seller.example:-1/",
            "https://seller..example/",
            "https://seller.example\\@127.0.0.1/",
            "https://sell er.example/",
            "https://m\u{fc}nchen.example/",
            "https://%61.example/",
            "https://256.1.1.1/",
            "https://[::1/",
        ] {
            assert!(fetch.get(ask(link)).await.is_err(), "{link}");
        }
        for headers in [[("a b", "c")], [("a", "b\r\nc: d")], [("", "")]] {
            assert!(fetch.get(Request { headers: &headers, ..ask("https://seller.example/") }).await.is_err());
        }
        assert_eq!(fetch.resolver.1.load(Ordering::SeqCst), 0);
    }

    #[test]
    fn host_and_port_of_a_link() {
        let of = |link: &str| {
            let target = Target::parse(link).unwrap();
            target.server_name().unwrap();
            let host = target.message(&[]).unwrap().headers()["host"].to_str().unwrap().to_owned();
            (host, target.port, target.path)
        };
        let text = str::to_owned;
        assert_eq!(of("https://a.example"), (text("a.example"), 443, text("/")));
        assert_eq!(of("https://a.example:?x#y"), (text("a.example"), 443, text("/?x")));
        assert_eq!(of("https://XN--zz.example:00443//a"), (text("XN--zz.example"), 443, text("//a")));
        assert_eq!(of("https://xn--ls8h:8443/a?b?c"), (text("xn--ls8h:8443"), 8443, text("/a?b?c")));
        assert_eq!(of("https://[2001:DB8::0:1]:1/@%zz"), (text("[2001:db8::1]:1"), 1, text("/@%zz")));
        assert_eq!(of("https://0x8.010.2056/"), (text("8.8.8.8"), 443, text("/")));
    }

    proptest! {
        #[test]
        fn any_link_is_read_without_a_panic(rest in "\\PC{0,60}|[a-z0-9.:@\\[\\]/?#\\\\%]{0,60}") {
            if let Some(target) = Target::parse(&format!("https://{rest}")) {
                // Whatever the path was, it can be sent.
                prop_assert!(target.server_name().is_err() || target.message(&[]).is_ok());
            }
        }
    }
}
