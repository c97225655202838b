//! Questions to a request.

use std::fmt;
use std::sync::Arc;

use stream_core::{Request, Tool};

use crate::SettingsError;
use crate::glob::Glob;
use crate::names::fold;

/// A question to a request: its model, the tools it offers, whatever the host knows.
///
/// What the request does not say cannot be answered: of a request without a model, nobody knows whether its model is a
/// small one, nor whether it is not. A policy under a condition that cannot be answered is run.
///
/// ```
/// use stream_core::{Request, Tool};
/// use stream_policies::compose::Condition;
///
/// # fn main() -> Result<(), stream_policies::SettingsError> {
/// let condition = Condition::model("claude-*")?.and(Condition::offers("bash")?.not());
/// assert_eq!(condition.holds(&Request::new().model("claude-x")), Some(true));
/// assert_eq!(condition.holds(&Request::new().model("claude-x").tool(Tool::new("bash"))), Some(false));
/// assert_eq!(condition.holds(&Request::new()), None);
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
#[must_use]
pub struct Condition(Arc<RequestTest>);

type Ask = Box<dyn Fn(&Request) -> Option<bool> + Send + Sync>;

enum RequestTest {
    Always,
    Model(String, Glob),
    Offers(String, Glob),
    Ask(Ask),
    Not(Condition),
    And(Condition, Condition),
    Or(Condition, Condition),
}

impl Condition {
    /// Holds for every request.
    pub fn always() -> Self {
        Self::of(RequestTest::Always)
    }

    /// The model that was asked for is one of these: `*` stands for any text, `?` for one character. Case, width and
    /// invisible characters make no difference.
    ///
    /// # Errors
    ///
    /// When it is no such glob.
    pub fn model(glob: &str) -> Result<Self, SettingsError> {
        Ok(Self::of(RequestTest::Model(glob.to_owned(), Glob::new(&fold(glob), "model")?)))
    }

    /// A tool of such a name was offered. A request that offers no tools offers none of these.
    ///
    /// # Errors
    ///
    /// When it is no glob.
    pub fn offers(glob: &str) -> Result<Self, SettingsError> {
        Ok(Self::of(RequestTest::Offers(glob.to_owned(), Glob::new(&fold(glob), "offers")?)))
    }

    /// The host's value of a type, asked by a closure. Cannot be answered where the request has no such value.
    ///
    /// ```
    /// use stream_core::Request;
    /// use stream_policies::compose::Condition;
    ///
    /// struct Tenant(u32);
    ///
    /// let condition = Condition::fact(|tenant: &Tenant| tenant.0 < 100);
    /// assert_eq!(condition.holds(&Request::new().extension(Tenant(7))), Some(true));
    /// assert_eq!(condition.holds(&Request::new()), None);
    /// ```
    pub fn fact<T: Send + Sync + 'static>(ask: impl Fn(&T) -> bool + Send + Sync + 'static) -> Self {
        Self::request(move |request| request.get::<T>().map(&ask))
    }

    /// Any question to the request; `None` where it cannot be answered.
    pub fn request(ask: impl Fn(&Request) -> Option<bool> + Send + Sync + 'static) -> Self {
        Self::of(RequestTest::Ask(Box::new(ask)))
    }

    /// Holds where this one does not.
    #[expect(clippy::should_implement_trait, reason = "as `and` and `or`, which no operator is for")]
    pub fn not(self) -> Self {
        Self::of(RequestTest::Not(self))
    }

    /// Holds where both do.
    pub fn and(self, other: Self) -> Self {
        Self::of(RequestTest::And(self, other))
    }

    /// Holds where one of both does.
    pub fn or(self, other: Self) -> Self {
        Self::of(RequestTest::Or(self, other))
    }

    /// Returns whether the condition holds for a request; `None` where the request lacks the fact.
    #[must_use]
    pub fn holds(&self, request: &Request) -> Option<bool> {
        match &*self.0 {
            RequestTest::Always => Some(true),
            RequestTest::Model(_, glob) => request.model_name().map(|model| glob.matches(&fold(model))),
            RequestTest::Offers(_, glob) => {
                Some(request.tools().iter().map(Tool::name).any(|name| glob.matches(&fold(name))))
            }
            RequestTest::Ask(ask) => ask(request),
            RequestTest::Not(condition) => condition.holds(request).map(|holds| !holds),
            RequestTest::And(one, other) => match (one.holds(request), other.holds(request)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            RequestTest::Or(one, other) => match (one.holds(request), other.holds(request)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
        }
    }

    fn of(question: RequestTest) -> Self {
        Self(Arc::new(question))
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            RequestTest::Always => f.write_str("always"),
            RequestTest::Model(glob, _) => write!(f, "model {glob}"),
            RequestTest::Offers(glob, _) => write!(f, "offers {glob}"),
            RequestTest::Ask(_) => f.write_str("the host's question"),
            RequestTest::Not(condition) => write!(f, "not ({condition:?})"),
            RequestTest::And(one, other) => write!(f, "({one:?} and {other:?})"),
            RequestTest::Or(one, other) => write!(f, "({one:?} or {other:?})"),
        }
    }
}
