//! Enums whose variants have a stable name.

/// The error of parsing a name that is none of those known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    pub(super) expected: &'static str,
    pub(super) found: String,
}

impl std::fmt::Display for UnknownName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "expected the name of a {}, found {:?}", self.expected, self.found)
    }
}

impl std::error::Error for UnknownName {}

/// Declares an enum with a name for each variant: `ALL`, `name()`, `Display` and `FromStr`.
macro_rules! named {
    ($(#[$meta:meta])* pub enum $type:ident ($what:literal) { $($(#[$doc:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum $type { $($(#[$doc])* $variant,)+ }

        impl $type {
            /// All of them, in the order they are documented.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The stable name.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::conformance::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|known| known.name() == name).ok_or_else(|| {
                    $crate::conformance::UnknownName { expected: $what, found: name.to_owned() }
                })
            }
        }
    };
}

pub(super) use named;
