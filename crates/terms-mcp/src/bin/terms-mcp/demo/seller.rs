//! The seller of the demo, on loopback over TLS: it serves its record, asks to be paid, and checks what it is paid with.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use http_body_util::Full;
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use k256::ecdsa::{RecoveryId, Signature, VerifyingKey};
use lcp::{Object, Value, encoding, json};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use tokio::net::TcpListener;
use tokio_rustls::{
    TlsAcceptor,
    rustls::{ServerConfig, pki_types::PrivateKeyDer},
};

use super::{PAIRING, record};
use crate::{dev_wallet::address_of, typed_data::digest};

const ASSET: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const PAY_TO: &str = "0x209693Bc6afc0C5328bA36FaF03C514EF312287C";

/// A seller that listens until the process ends.
pub(super) struct Seller {
    /// Where its resource is.
    pub(super) url: String,
    certificate: String,
    short: Arc<AtomicBool>,
}

impl Seller {
    /// Starts listening on a free port of 127.0.0.1, with a certificate of its own authority.
    pub(super) async fn start() -> Result<Self, String> {
        let (certificate, acceptor) = tls().map_err(|error| error.to_string())?;
        let listener = TcpListener::bind("127.0.0.1:0").await.map_err(|error| error.to_string())?;
        let origin = format!("https://{}", listener.local_addr().map_err(|error| error.to_string())?);
        let url = format!("{origin}/quote");
        let short = Arc::new(AtomicBool::new(false));
        let shop = Arc::new(Shop { offer: offer(&origin), short: short.clone() });
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let (acceptor, shop) = (acceptor.clone(), shop.clone());
                tokio::spawn(async move {
                    let Ok(stream) = acceptor.accept(socket).await else { return };
                    let service = service_fn(move |request| {
                        let shop = shop.clone();
                        async move { Ok::<_, Infallible>(shop.answer(&request)) }
                    });
                    // A client that leaves ends its connection.
                    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
                });
            }
        });
        Ok(Self { url, certificate, short })
    }

    /// The certificate authority to trust, PEM.
    pub(super) fn certificate(&self) -> &str {
        &self.certificate
    }

    /// From now on the record is served without its last byte.
    pub(super) fn serve_one_byte_less(&self) {
        self.short.store(true, Ordering::Relaxed);
    }
}

/// The PEM of a fresh authority, and a server whose certificate for 127.0.0.1 it signed.
pub(crate) fn tls() -> Result<(String, TlsAcceptor), Box<dyn std::error::Error>> {
    let mut authority = CertificateParams::default();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate()?;
    let certificate = authority.self_signed(&authority_key)?.pem();
    let issuer = Issuer::new(authority, authority_key);
    let key = KeyPair::generate()?;
    let leaf = CertificateParams::new(["127.0.0.1".to_owned()])?.signed_by(&key, &issuer)?;
    let key = PrivateKeyDer::try_from(key.serialize_der())?;
    let config = ServerConfig::builder().with_no_client_auth().with_single_cert(vec![leaf.der().clone()], key)?;
    Ok((certificate, TlsAcceptor::from(Arc::new(config))))
}

/// The payment request: 0.01 USDC on Base Sepolia, under the record's hash.
fn offer(origin: &str) -> Value {
    let option = Object::new()
        .with("scheme", "exact")
        .with("network", "eip155:84532")
        .with("amount", "10000")
        .with("asset", ASSET)
        .with("payTo", PAY_TO)
        .with("maxTimeoutSeconds", 60u32)
        .with("extra", Object::new().with("name", "USDC").with("version", "2"));
    let h = record().1;
    let info = Object::new().with("type", "sha256").with("value", &h).with("legalContextUrl", format!("{origin}/atr/{h}"));
    Object::new()
        .with("x402Version", 2u32)
        .with("resource", Object::new().with("url", format!("{origin}/quote")))
        .with("accepts", [option.into()])
        .with("extensions", Object::new().with("legalContext", Object::new().with("info", info).with("schema", Object::new())))
        .into()
}

struct Shop {
    offer: Value,
    short: Arc<AtomicBool>,
}

impl Shop {
    fn answer(&self, request: &Request<Incoming>) -> Response<Full<Bytes>> {
        let answer = |status, body: Vec<u8>| {
            let mut response = Response::new(Full::from(body));
            *response.status_mut() = status;
            response
        };
        if request.uri().path().starts_with("/atr/") {
            let mut atr = record().0;
            if self.short.load(Ordering::Relaxed) {
                atr.pop();
            }
            return answer(StatusCode::OK, atr);
        }
        match request.headers().get("payment-signature").map(|payment| judge(payment.as_bytes())) {
            Some(Ok(payer)) => answer(StatusCode::OK, format!("a quote, paid by {payer} under {}", record().1).into_bytes()),
            Some(Err(fault)) => answer(StatusCode::BAD_REQUEST, fault.into()),
            None => {
                let mut response = answer(StatusCode::PAYMENT_REQUIRED, Vec::new());
                if let Ok(header) = encoding::base64(json::write(&self.offer).as_bytes()).parse() {
                    response.headers_mut().insert("payment-required", header);
                }
                response
            }
        }
    }
}

/// Checks a payment as a seller does, and returns who signed it: it carries the record's hash, and the payer's signature
/// is over the very transfer that was asked for.
fn judge(header: &[u8]) -> Result<String, &'static str> {
    let text = std::str::from_utf8(header).ok().and_then(encoding::from_base64).ok_or("not base64")?;
    let payment = json::parse_bytes(&text, json::MAX_DEPTH).map_err(|_| "not JSON")?;
    let pairing = lcp::registry::pairing(PAIRING).ok_or("no such pairing")?;
    terms::check(pairing, &record().0, &payment, None).map_err(|_| "the payment does not carry the hash of the terms")?;
    let payload = payment.get("payload").ok_or("no payload")?;
    let message = payload.get("authorization").and_then(Value::as_object).ok_or("no authorization")?;
    if message.get("to").and_then(Value::as_str) != Some(PAY_TO) || message.get("value").and_then(Value::as_str) != Some("10000") {
        return Err("another payment than was asked for");
    }
    let domain = Object::new().with("name", "USDC").with("version", "2").with("chainId", 84_532u32).with("verifyingContract", ASSET);
    let member = |(name, kind): (&str, &str)| Value::from(Object::new().with("name", name).with("type", kind));
    let members =
        [("from", "address"), ("to", "address"), ("value", "uint256"), ("validAfter", "uint256"), ("validBefore", "uint256"), ("nonce", "bytes32")];
    let typed = Object::new()
        .with("domain", domain)
        .with("types", Object::new().with("TransferWithAuthorization", members.map(member)))
        .with("primaryType", "TransferWithAuthorization")
        .with("message", message.clone());
    let signed = digest(&typed.into()).map_err(|_| "unreadable authorization")?;
    let signature = payload.get("signature").and_then(Value::as_str).and_then(encoding::from_hex).ok_or("no signature")?;
    let (&v, rs) = signature.split_last().ok_or("no signature")?;
    let recovery = v.checked_sub(27).and_then(RecoveryId::from_byte).ok_or("no signature")?;
    let signature = Signature::from_slice(rs).map_err(|_| "no signature")?;
    let payer = VerifyingKey::recover_from_prehash(&signed, &signature, recovery).map_err(|_| "no signature")?;
    let payer = address_of(&payer);
    if message.get("from").and_then(Value::as_str) == Some(&payer) { Ok(payer) } else { Err("not the payer's signature") }
}
