//! A seller on loopback over TLS, with a certificate authority of its own.

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

/// Serves one body for every request, until the process ends.
pub(crate) struct Seller {
    /// `https://127.0.0.1:PORT`
    pub(crate) origin: String,
    file: PathBuf,
}

impl Seller {
    /// Starts on a free port.
    pub(crate) fn serving(body: Vec<u8>) -> Self {
        let (pem, acceptor) = tls();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async { serve(TcpListener::from_std(listener).unwrap(), acceptor, body).await });
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

async fn serve(listener: TcpListener, acceptor: TlsAcceptor, body: Vec<u8>) {
    while let Ok((socket, _)) = listener.accept().await {
        let Ok(mut stream) = acceptor.accept(socket).await else { continue };
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            match stream.read_u8().await {
                Ok(byte) => head.push(byte),
                Err(_) => break,
            }
        }
        let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
        let _ = stream.write_all(answer.as_bytes()).await;
        let _ = stream.write_all(&body).await;
        let _ = stream.shutdown().await;
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
