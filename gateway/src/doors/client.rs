//! The clients that a file names.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use super::key::Digest;
use super::limit::Allowance;

/// The name of the client that a request is of: an extension of the request, behind the doors.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct ClientName(pub(crate) Arc<str>);

impl fmt::Display for ClientName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How much a client may ask for; `None` is no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Answers under way at once.
    pub(crate) streams: Option<NonZeroU32>,
    pub(crate) requests_per_minute: Option<NonZeroU32>,
    /// The size of a request's body.
    pub(crate) request_bytes: Option<NonZeroU32>,
}

/// One client: its name, its key and what is left of its limits, which clones share.
#[derive(Debug, Clone)]
pub(crate) struct Client {
    pub(super) name: ClientName,
    key: Digest,
    pub(super) allowance: Allowance,
}

impl Client {
    pub(crate) fn new(name: &str, key: Digest, limits: Limits) -> Self {
        Self { name: ClientName(name.into()), key, allowance: Allowance::new(limits) }
    }

    pub(crate) fn name(&self) -> &ClientName {
        &self.name
    }

    pub(crate) fn key(&self) -> Digest {
        self.key
    }
}

/// Every client. Clones share what is left of the limits.
#[derive(Debug, Clone, Default)]
pub(crate) struct Clients(Arc<[Client]>);

impl Clients {
    pub(crate) fn new(clients: Vec<Client>) -> Self {
        Self(clients.into())
    }

    /// These clients, with what is left of the limits that they had before under the same name: a limit is new where its
    /// number is. A client whose key has changed is the same client.
    pub(crate) fn keeping(&self, before: &Self) -> Self {
        let kept = self.0.iter().map(|client| {
            let mut client = client.clone();
            if let Some(before) = before.0.iter().find(|before| before.name == client.name) {
                client.allowance.keep(&before.allowance);
            }
            client
        });
        Self(kept.collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &ClientName> {
        self.0.iter().map(Client::name)
    }

    /// The position of the client whose keys these are. Keys of two clients, or one that no client has, are nobody's: which
    /// of them counts would be a guess.
    pub(super) fn find(&self, keys: &[Digest]) -> Option<usize> {
        let mut found = None;
        for key in keys {
            // Every client is compared, so that the time does not tell which one it was.
            let of = |found, (position, client): (usize, &Client)| {
                if client.key.is(key) { Some(position) } else { found }
            };
            let owner = self.0.iter().enumerate().fold(None, of)?;
            if *found.get_or_insert(owner) != owner {
                return None;
            }
        }
        found
    }

    pub(super) fn get(&self, position: usize) -> Option<&Client> {
        self.0.get(position)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doors::limit::Beyond;

    #[test]
    fn keys_name_a_client_only_if_all_of_them_do() {
        let (a, b, other) = (Digest::of(b"a"), Digest::of(b"b"), Digest::of(b"c"));
        let client = |name, key| Client::new(name, key, Limits::default());
        let clients = Clients::new(vec![client("one", a), client("two", b)]);
        assert_eq!(clients.find(&[a]), Some(0));
        assert_eq!(clients.find(&[b, b]), Some(1));
        for nobody in [&[][..], &[other], &[a, b], &[a, other], &[other, a]] {
            assert_eq!(clients.find(nobody), None);
        }
    }

    /// A changed file takes nothing back, and gives nothing away.
    #[test]
    fn limits_that_did_not_change_are_kept_by_name() {
        let limits = |streams, requests| Limits {
            streams: NonZeroU32::new(streams),
            requests_per_minute: NonZeroU32::new(requests),
            request_bytes: None,
        };
        let clients = |key: &[u8], limits| Clients::new(vec![Client::new("one", Digest::of(key), limits)]);
        let take = |clients: &Clients| clients.get(0).unwrap().allowance.take(None);
        let before = clients(b"a", limits(1, 2));
        let place = take(&before).unwrap();
        // Another key is no other client.
        let same = clients(b"b", limits(1, 2)).keeping(&before);
        assert_eq!(take(&same).unwrap_err(), Beyond::Streams);
        drop(place);
        drop(take(&same).unwrap());
        assert!(matches!(take(&same), Err(Beyond::Requests(_))));
        // A limit of another number is new, and the other one is kept.
        let more = clients(b"a", limits(2, 2)).keeping(&same);
        assert!(matches!(take(&more), Err(Beyond::Requests(_))));
        let place = take(&before);
        let faster = clients(b"a", limits(1, 3)).keeping(&before);
        drop(place);
        assert!(take(&faster).is_ok());
        // Another name is another client.
        let other = Clients::new(vec![Client::new("two", Digest::of(b"a"), limits(1, 2))]).keeping(&before);
        assert!(take(&other).is_ok());
    }
}
