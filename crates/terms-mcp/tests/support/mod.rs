//! A seller on loopback over TLS, with a certificate authority of its own.

pub(crate) mod binary;

use std::{env, fs, path::PathBuf, sync::Arc, thread};

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, pki_types::PrivateKeyDer},
};

/// What a seller answers every request with.
#[derive(Clone, Debug)]
#[allow(dead_code)] // each test file uses its own
pub(crate) enum Answer {
    /// These bytes, and then the connection's end.
    Bytes(Vec<u8>),
    /// These bytes, and then nothing.
    Stalls(Vec<u8>),
    /// A body that does not end.
    EndlessBody,
    /// A head that does not end.
    EndlessHead,
}

/// Answers every request alike, until the process ends.
pub(crate) struct Seller {
    /// `https://127.0.0.1:PORT`
    pub(crate) origin: String,
    file: PathBuf,
}

impl Seller {
    /// Serves a body.
    #[allow(dead_code)] // each test file uses its own
    pub(crate) fn serving(body: &[u8]) -> Self {
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        Self::answering(Answer::Bytes([head.as_bytes(), body].concat()))
    }

    /// Starts on a free port.
    pub(crate) fn answering(answer: Answer) -> Self {
        let (pem, acceptor) = tls();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async { serve(TcpListener::from_std(listener).unwrap(), acceptor, answer).await });
        });
        let file = env::temp_dir().join(format!("terms-mcp-seller-{}.pem", address.port()));
        fs::write(&file, pem).unwrap();
        Self { origin: format!("https://{address}"), file }
    }

    /// The path of the authority's certificate, PEM.
    pub(crate) fn certificate(&self) -> String {
        self.file.display().to_string()
    }
}

impl Drop for Seller {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.file);
    }
}

async fn serve(listener: TcpListener, acceptor: TlsAcceptor, answer: Answer) {
    while let Ok((socket, _)) = listener.accept().await {
        let (acceptor, answer) = (acceptor.clone(), answer.clone());
        tokio::spawn(async move {
            // A client that leaves ends its connection.
            let Ok(mut stream) = acceptor.accept(socket).await else { return };
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let Ok(byte) = stream.read_u8().await else { return };
                head.push(byte);
            }
            match answer {
                Answer::Bytes(bytes) => {
                    let _ = stream.write_all(&bytes).await;
                    let _ = stream.shutdown().await;
                }
                Answer::Stalls(bytes) => {
                    let _ = stream.write_all(&bytes).await;
                    let _ = stream.flush().await;
                    // Until the client closes.
                    let _ = stream.read_u8().await;
                }
                Answer::EndlessBody => {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n").await;
                    while stream.write_all(&[b' '; 4096]).await.is_ok() {}
                }
                Answer::EndlessHead => {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\n").await;
                    while stream.write_all(b"X-More: more\r\n").await.is_ok() {}
                }
            }
        });
    }
}

fn tls() -> (String, TlsAcceptor) {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate().unwrap();
    let pem = authority.self_signed(&authority_key).unwrap().pem();
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate().unwrap();
    let leaf = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![leaf.der().clone()], key).unwrap();
    (pem, TlsAcceptor::from(Arc::new(config)))
}
