//! TLS on both sides, HTTP/1.1 and HTTP/2, with certificates made here.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, StatusCode, Version};
use http_body_util::{BodyExt as _, Full};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::{PrivateKeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use stream_testkit::{Script, WireKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::kit::{Directory, Gateway, question};

const GATE: &str =
    "[[policy]]\nkind = \"tool-gate\"\nrules = { default = \"allow\", deny = [{ tools = [\"shell\"] }] }\n";

/// An authority, and what it signs.
pub(crate) struct Authority(CertifiedIssuer<'static, KeyPair>);

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    pub(crate) fn pem(&self) -> String {
        self.0.pem()
    }

    /// A certificate for this name, and its key.
    pub(crate) fn sign(&self, name: &str) -> (rcgen::Certificate, KeyPair) {
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        (params.signed_by(&key, &self.0).unwrap(), key)
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        roots.add(self.0.der().clone()).unwrap();
        roots
    }

    /// A client that trusts this authority and speaks one protocol.
    pub(crate) fn client(
        &self,
        protocol: &str,
        identity: Option<(rcgen::Certificate, KeyPair)>,
    ) -> TlsConnector {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(self.roots());
        let mut config = match identity {
            Some((certificate, key)) => {
                let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
                builder.with_client_auth_cert(vec![certificate.der().clone()], key).unwrap()
            }
            None => builder.with_no_client_auth(),
        };
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        TlsConnector::from(Arc::new(config))
    }

    pub(crate) fn server(&self, name: &str, protocol: &str) -> TlsAcceptor {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let (certificate, key) = self.sign(name);
        let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .unwrap();
        config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
        TlsAcceptor::from(Arc::new(config))
    }
}

pub(crate) fn write(directory: &Directory, authority: &Authority, name: &str) {
    let (certificate, key) = authority.sign(name);
    directory.file("cert.pem", &certificate.pem());
    directory.file("key.pem", &key.serialize_pem());
    directory.file("ca.pem", &authority.pem());
}

pub(crate) const TLS: &str = "[tls]\ncertificate = \"cert.pem\"\nkey = \"key.pem\"\n";

/// Asks over TLS; the version that was spoken, the status and the body.
pub(crate) async fn ask(
    gateway: &Gateway,
    tls: &TlsConnector,
    request: Request<Full<Bytes>>,
) -> Result<(Version, StatusCode, Bytes), std::io::Error> {
    let address = gateway.base.strip_prefix("https://").unwrap();
    let name = ServerName::try_from("gateway.test").unwrap();
    let stream = tls.connect(name, TcpStream::connect(address).await?).await?;
    let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
    let io = TokioIo::new(stream);
    let broken = |error: hyper::Error| std::io::Error::other(error);
    let response = if http2 {
        let (mut send, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.map_err(broken)?;
        tokio::spawn(connection);
        send.send_request(request).await
    } else {
        let (mut send, connection) = hyper::client::conn::http1::handshake(io).await.map_err(broken)?;
        tokio::spawn(connection);
        send.send_request(request).await
    };
    let response = response.map_err(broken)?;
    let (version, status) = (response.version(), response.status());
    let body = response.into_body().collect().await.map_err(broken)?.to_bytes();
    Ok((version, status, body))
}

fn request(kind: WireKind, streamed: bool) -> Request<Full<Bytes>> {
    let (path, body) = question(kind, streamed);
    let uri = format!("https://gateway.test{path}");
    Request::post(uri).header("host", "gateway.test").body(Full::from(body)).unwrap()
}

#[tokio::test]
async fn every_api_is_policed_over_tls_in_both_versions_of_http() {
    let (directory, authority) = (Directory::new("tls"), Authority::new());
    write(&directory, &authority, "gateway.test");
    let gateway = Gateway::configured(&directory, &format!("{TLS}{GATE}"));
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            let mut bodies = Vec::new();
            for (protocol, version) in [("http/1.1", Version::HTTP_11), ("h2", Version::HTTP_2)] {
                let tls = authority.client(protocol, None);
                let (spoken, status, body) = ask(&gateway, &tls, request(kind, streamed)).await.unwrap();
                assert_eq!((spoken, status), (version, StatusCode::OK), "{kind} {protocol}");
                let text = String::from_utf8(body.to_vec()).unwrap();
                assert_eq!(text.matches("rm -rf").count(), 0, "{text}");
                bodies.push(text);
            }
            assert_eq!(bodies[0], bodies[1], "{kind} {streamed}");
        }
    }
}

#[tokio::test]
async fn an_upstream_with_an_authority_of_its_own_is_reached_in_both_versions_of_http() {
    for protocol in ["http/1.1", "h2"] {
        let authority = Authority::new();
        let directory = Directory::new(&format!("tls-upstream-{}", protocol.replace('/', "-")));
        directory.file("ca.pem", &authority.pem());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let acceptor = authority.server("localhost", protocol);
        let log = Script::new()
            .text("I clean up.")
            .call("call_1", "shell", r#"{"command":"rm -rf /"}"#)
            .to_log(WireKind::OpenAiChat);
        let body = log.bytes().clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let Ok(stream) = acceptor.accept(stream).await else { continue };
                let body = body.clone();
                let service = hyper::service::service_fn(move |request: Request<hyper::body::Incoming>| {
                    let body = body.clone();
                    async move {
                        let version = format!("{:?}", request.version());
                        request.into_body().collect().await?;
                        let response = http::Response::builder()
                            .header("content-type", "text/event-stream")
                            .header("x-version", version)
                            .body(Full::new(body));
                        Ok::<_, hyper::Error>(response.unwrap())
                    }
                });
                let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                tokio::spawn(
                    async move { server.serve_connection(TokioIo::new(stream), service).await.ok() },
                );
            }
        });
        let upstream = format!("[upstream.openai-chat]\nurl = \"https://localhost:{port}\"\n");
        let trusted = Gateway::configured(&directory, &format!("{upstream}ca = \"ca.pem\"\n{GATE}"));
        let answer = trusted.ask(WireKind::OpenAiChat, true).await;
        assert_eq!(answer.status, StatusCode::OK, "{}", answer.text());
        let spoken = if protocol == "h2" { "HTTP/2.0" } else { "HTTP/1.1" };
        assert_eq!(answer.headers["x-version"], spoken);
        let view = answer.report(WireKind::OpenAiChat, true).view().clone();
        assert_eq!((view.choices[0].calls.len(), answer.text().matches("rm -rf").count()), (0, 0));
        // Without the authority the certificate is nobody's.
        let other = Gateway::configured(&directory, &format!("{upstream}{GATE}"));
        assert_eq!(other.ask(WireKind::OpenAiChat, true).await.status, StatusCode::BAD_GATEWAY);
    }
}

#[tokio::test]
async fn a_changed_certificate_is_taken_up_and_a_broken_one_is_not() {
    let (directory, old, new) = (Directory::new("tls-change"), Authority::new(), Authority::new());
    write(&directory, &old, "gateway.test");
    let gateway = Gateway::configured(&directory, &format!("{TLS}{GATE}"));
    let works = async |authority: &Authority| {
        let tls = authority.client("http/1.1", None);
        ask(&gateway, &tls, request(WireKind::OpenAiChat, false)).await.ok().map(|(_, status, _)| status)
    };
    assert_eq!(works(&old).await, Some(StatusCode::OK));
    directory.file("key.pem", "no key");
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert_eq!(works(&old).await, Some(StatusCode::OK), "a broken file is not taken up");
    write(&directory, &new, "gateway.test");
    tokio::time::sleep(Duration::from_millis(1100)).await;
    assert_eq!(works(&new).await, Some(StatusCode::OK));
    assert_eq!(works(&old).await, None);
}

#[tokio::test]
async fn where_clients_need_certificates_one_without_is_not_served() {
    let (directory, authority, clients) = (Directory::new("tls-client"), Authority::new(), Authority::new());
    write(&directory, &authority, "gateway.test");
    directory.file("clients.pem", &clients.pem());
    let gateway = Gateway::configured(&directory, &format!("{TLS}client_ca = \"clients.pem\"\n{GATE}"));
    let known = authority.client("h2", Some(clients.sign("somebody")));
    let (_, status, _) = ask(&gateway, &known, request(WireKind::OpenAiChat, false)).await.unwrap();
    assert_eq!(status, StatusCode::OK);
    for identity in [None, Some(authority.sign("somebody"))] {
        let unknown = authority.client("h2", identity);
        ask(&gateway, &unknown, request(WireKind::OpenAiChat, false)).await.unwrap_err();
    }
}

/// Whether a client without a certificate of its own gets as far as an answer.
pub(crate) async fn shake(authority: &[u8], stream: TcpStream) -> String {
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("gateway.test").unwrap();
    let Ok(mut stream) = TlsConnector::from(Arc::new(config)).connect(name, stream).await else {
        return "no connection".to_owned();
    };
    let asked = stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n").await;
    let mut said = Vec::new();
    let read = stream.read_to_end(&mut said).await;
    format!("{} {} {}", asked.is_ok(), read.is_ok(), said.is_empty())
}
