//! Enums whose variants have a stable name.

/// The error of a name that no variant has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    pub(crate) expected: &'static str,
    pub(crate) found: String,
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
            /// The variants, in the order of their documentation.
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
            type Err = $crate::named::UnknownName;

            fn from_str(name: &str) -> Result<Self, Self::Err> {
                Self::ALL.iter().copied().find(|known| known.name() == name).ok_or_else(|| {
                    $crate::named::UnknownName { expected: $what, found: name.to_owned() }
                })
            }
        }
    };
}

pub(crate) use named;
