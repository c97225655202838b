//! Policies in order.

use std::fmt;

use stream_core::Policy;
use stream_core::processor::Builder;

/// Policies in order: the output of one is the input of the next. See the [module](super) for what belongs before what.
#[derive(Default)]
#[must_use]
pub struct Chain(Vec<Box<dyn Policy>>);

impl Chain {
    /// No policies.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a policy behind those before.
    pub fn then(mut self, policy: impl Policy + 'static) -> Self {
        self.0.push(Box::new(policy));
        self
    }

    /// Adds the policies of another chain behind those before.
    pub fn then_all(mut self, chain: Self) -> Self {
        self.0.extend(chain.0);
        self
    }

    /// Wraps every policy in the same way: a whole chain under one condition, or watched.
    ///
    /// ```
    /// use stream_core::Passthrough;
    /// use stream_policies::compose::{Chain, Monitor};
    ///
    /// let watched = Chain::new().then(Passthrough).then(Passthrough).each(Monitor::new);
    /// assert!(watched.into_iter().all(|policy| !policy.enforces()));
    /// ```
    pub fn each<P: Policy + 'static>(self, mut wrap: impl FnMut(Box<dyn Policy>) -> P) -> Self {
        Self(self.0.into_iter().map(|policy| Box::new(wrap(policy)) as Box<dyn Policy>).collect())
    }

    /// Hands the policies to a processor, behind those it has.
    pub fn add_to(self, builder: Builder) -> Builder {
        self.0.into_iter().fold(builder, Builder::policy)
    }

    /// How many policies there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl IntoIterator for Chain {
    type Item = Box<dyn Policy>;
    type IntoIter = std::vec::IntoIter<Box<dyn Policy>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl FromIterator<Box<dyn Policy>> for Chain {
    fn from_iter<I: IntoIterator<Item = Box<dyn Policy>>>(policies: I) -> Self {
        Self(policies.into_iter().collect())
    }
}

impl fmt::Debug for Chain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(Policy::name)).finish()
    }
}
