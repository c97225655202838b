//! Which requests go where.

/// Requests, and the cluster that they go to.
#[derive(Debug, Clone)]
#[must_use]
pub struct Route {
    pub(super) matches: Match,
    pub(super) cluster: String,
    pub(super) prefix: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) without: Vec<String>,
    pub(super) is_policed: bool,
    pub(super) rewrite: bool,
}

/// Which requests a route is for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Match {
    /// All.
    Any,
    /// Those whose path starts like this.
    Prefix(String),
    /// Those whose path, without its query, is matched as a whole by this regular expression.
    Path(String),
    /// Those that have this header.
    Header(String),
}

impl Route {
    /// These requests go to the cluster of this name, and their responses are policed.
    pub fn new(matches: Match, cluster: impl Into<String>) -> Self {
        Self {
            matches,
            cluster: cluster.into(),
            prefix: String::new(),
            headers: Vec::new(),
            without: Vec::new(),
            is_policed: true,
            rewrite: true,
        }
    }

    /// A path that stands before the request's own at the upstream.
    pub fn prefix(mut self, prefix: impl Into<String>) -> Self {
        self.prefix = prefix.into();
        self
    }

    /// A header that Envoy sets; `%ENVIRONMENT(NAME)%` in it stands for a variable of Envoy's environment.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// A header that Envoy removes from the client's request.
    pub fn without(mut self, name: impl Into<String>) -> Self {
        self.without.push(name.into());
        self
    }

    /// Not policed: for measuring. What passes here passes unseen.
    pub fn unpoliced(mut self) -> Self {
        self.is_policed = false;
        self
    }

    /// The client's `host` goes on as it is.
    pub fn keep_host(mut self) -> Self {
        self.rewrite = false;
        self
    }
}
