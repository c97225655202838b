//! TLS on the listener: certificates that are taken up when their files change.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio_rustls::TlsAcceptor;

use super::TlsFiles;

/// TLS with the certificates that the files hold now.
#[derive(Debug)]
pub(crate) struct Tls {
    files: TlsFiles,
    current: Mutex<Current>,
}

#[derive(Debug)]
struct Current {
    config: Arc<ServerConfig>,
    stamps: Vec<Option<SystemTime>>,
    checked: Instant,
}

impl Tls {
    /// Reads the files.
    pub(crate) fn load(files: TlsFiles) -> Result<Self, String> {
        // What changes while the files are read is seen at the next look.
        let stamps = files.stamps();
        let config = Arc::new(files.read()?);
        let current = Current { config, stamps, checked: Instant::now() };
        Ok(Self { files, current: Mutex::new(current) })
    }

    /// What a new connection is accepted with. Files that have changed are read again; if they are not right, the
    /// certificates that were right stay.
    pub(super) fn acceptor(&self) -> Acceptor {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.checked.elapsed() >= LOOK {
            current.checked = Instant::now();
            let stamps = self.files.stamps();
            if stamps != current.stamps {
                current.stamps = stamps;
                match self.files.read() {
                    Ok(config) => {
                        current.config = Arc::new(config);
                        tracing::info!("changed certificates are taken up");
                    }
                    Err(error) => tracing::warn!(%error, "changed certificates are not taken up"),
                }
            }
        }
        TlsAcceptor::from(Arc::clone(&current.config))
    }
}

impl TlsFiles {
    fn stamps(&self) -> Vec<Option<SystemTime>> {
        let files = [Some(&self.certificate), Some(&self.key), self.client_ca.as_ref()];
        let stamp = |file: &PathBuf| std::fs::metadata(file).and_then(|metadata| metadata.modified()).ok();
        files.into_iter().flatten().map(stamp).collect()
    }

    fn read(&self) -> Result<ServerConfig, String> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let wrong = |file: &Path, error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?;
        let builder = match &self.client_ca {
            Some(file) => {
                let roots = Arc::new(roots(file)?);
                let verifier = WebPkiClientVerifier::builder_with_provider(roots, provider).build();
                builder.with_client_cert_verifier(verifier.map_err(|error| wrong(file, &error))?)
            }
            None => builder.with_no_client_auth(),
        };
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|error| wrong(&self.key, &format!("expected a private key in PEM form: {error}")))?;
        let mut config = builder
            .with_single_cert(certificates(&self.certificate)?, key)
            .map_err(|error| wrong(&self.certificate, &error))?;
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(config)
    }
}

/// What a connection is accepted with.
pub(super) type Acceptor = TlsAcceptor;

/// Certificates of authorities.
pub(crate) type Roots = RootCertStore;

/// The authorities that a file holds.
pub(crate) fn roots(file: &Path) -> Result<Roots, String> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        roots.add(certificate).map_err(|error| format!("{}: {error}", file.display()))?;
    }
    Ok(roots)
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
    let wrong = |found: &dyn std::fmt::Display| {
        format!("{}: expected certificates in PEM form, found {found}", file.display())
    };
    let read = CertificateDer::pem_file_iter(file).map_err(|error| wrong(&error))?;
    let read: Vec<_> = read.collect::<Result<_, _>>().map_err(|error| wrong(&error))?;
    if read.is_empty() { Err(wrong(&"none")) } else { Ok(read) }
}

/// How often the files are looked at, at most.
const LOOK: Duration = Duration::from_secs(1);
