//! Who may ask, and over what kind of connection.

use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;

use super::Fault;
use super::duration::time;
use crate::doors::{Client, Clients, Digest, Limits};
use crate::listen::{Connections, TlsFiles};

/// A client as a file names it: by the SHA-256 of its key, or by the environment variable that holds the key.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ClientFile {
    name: Spanned<String>,
    key_sha256: Option<Spanned<String>>,
    key_env: Option<Spanned<String>>,
    streams: Option<Spanned<u32>>,
    requests_per_minute: Option<Spanned<u32>>,
    request_bytes: Option<Spanned<u32>>,
}

impl ClientFile {
    /// Builds every client of a file. Two of one name, or of one key, could not be told apart.
    pub(super) fn build(files: &[Spanned<Self>], text: &str) -> Result<Clients, Fault> {
        let mut names = BTreeSet::new();
        let mut clients: Vec<Client> = Vec::new();
        for file in files {
            let (span, file) = (file.span(), file.get_ref());
            let name = file.name.get_ref();
            if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"') {
                let message = format!("expected a name of printable ASCII without blanks, found {name:?}");
                return Err(Fault::at(text, &file.name.span(), message));
            }
            if !names.insert(name) {
                let message = format!("expected clients of different names, found {name:?} twice");
                return Err(Fault::at(text, &file.name.span(), message));
            }
            let key = match (&file.key_sha256, &file.key_env) {
                (Some(digest), None) => sha256(digest, text)?,
                (None, Some(variable)) => from_environment(variable, text)?,
                _ => {
                    let message = "expected one of key_sha256 and key_env (`gateway key` makes both), found";
                    let found = if file.key_env.is_some() { "both" } else { "none" };
                    return Err(Fault::at(text, &span, format!("{message} {found}")));
                }
            };
            if let Some(twin) = clients.iter().find(|client| client.key() == key) {
                let message = format!("expected a key of its own, found that of {:?}", twin.name().0);
                return Err(Fault::at(text, &span, message));
            }
            let limits = Limits {
                streams: positive(file.streams.as_ref(), text)?,
                requests_per_minute: positive(file.requests_per_minute.as_ref(), text)?,
                request_bytes: positive(file.request_bytes.as_ref(), text)?,
            };
            clients.push(Client::new(name, key, limits));
        }
        Ok(Clients::new(clients))
    }
}

/// Checks that names are those of clients.
pub(super) fn known(names: &[Spanned<String>], clients: &Clients, text: &str) -> Result<Vec<String>, Fault> {
    let check = |name: &Spanned<String>| {
        let known: Vec<&str> = clients.names().map(|name| &*name.0).collect();
        if known.contains(&name.get_ref().as_str()) {
            return Ok(name.get_ref().clone());
        }
        let known = if known.is_empty() { "(there is none)".to_owned() } else { known.join(", ") };
        let message = format!("expected the name of a client {known}, found {:?}", name.get_ref());
        Err(Fault::at(text, &name.span(), message))
    };
    names.iter().map(check).collect()
}

/// The certificate of the listener.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TlsFile {
    certificate: PathBuf,
    key: PathBuf,
    client_ca: Option<PathBuf>,
}

impl TlsFile {
    pub(super) fn build(self, directory: &Path) -> TlsFiles {
        TlsFiles {
            certificate: directory.join(self.certificate),
            key: directory.join(self.key),
            client_ca: self.client_ca.map(|file| directory.join(file)),
        }
    }
}

/// The limits of connections.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConnectionsFile {
    most: Option<Spanned<u32>>,
    head: Option<Spanned<String>>,
    body: Option<Spanned<String>>,
    idle: Option<Spanned<String>>,
    stalled: Option<Spanned<String>>,
}

impl ConnectionsFile {
    pub(super) fn build(&self, text: &str) -> Result<Connections, Fault> {
        let mut limits = Connections::default();
        if let Some(most) = positive(self.most.as_ref(), text)? {
            limits.most = most.get();
        }
        let times = [
            (&self.head, &mut limits.head),
            (&self.body, &mut limits.body),
            (&self.idle, &mut limits.idle),
            (&self.stalled, &mut limits.stalled),
        ];
        for (said, limit) in times {
            if let Some(said) = said {
                *limit = time(said, text)?;
            }
        }
        Ok(limits)
    }
}

fn positive(number: Option<&Spanned<u32>>, text: &str) -> Result<Option<NonZeroU32>, Fault> {
    let Some(number) = number else { return Ok(None) };
    let positive = NonZeroU32::new(*number.get_ref());
    positive.ok_or_else(|| Fault::at(text, &number.span(), "expected at least 1, found 0")).map(Some)
}

fn sha256(digest: &Spanned<String>, text: &str) -> Result<Digest, Fault> {
    // What stands there may be the key itself: it is not told.
    let message = "expected the 64 hexadecimal digits of a SHA-256, found something else";
    Digest::parse(digest.get_ref()).ok_or_else(|| Fault::at(text, &digest.span(), message))
}

fn from_environment(variable: &Spanned<String>, text: &str) -> Result<Digest, Fault> {
    let name = variable.get_ref();
    let key = std::env::var(name).ok().filter(|key| !key.trim().is_empty());
    let missing = || format!("expected a key in the environment variable {name:?}, found none");
    let key = key.ok_or_else(|| Fault::at(text, &variable.span(), missing()))?;
    Ok(Digest::of(key.trim().as_bytes()))
}
