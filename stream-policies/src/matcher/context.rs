//! What stands before a place in the text, as far as the start of a match may depend on it.

/// What the last bytes of a text are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(super) enum Context {
    /// There are none.
    Start,
    Lf,
    Cr,
    /// A byte that belongs to no word.
    Other,
    Backslash,
    /// `\n` and the like, written out: the letter ends no word.
    Escape,
    Percent,
    /// One digit behind a `%`.
    Hex,
    /// Two of them: a byte in a URL, which ends no word.
    Encoded,
    Underscore,
    Lower,
    /// A capital or a digit.
    Word,
}

impl Context {
    pub(super) const ALL: [Self; 12] = [
        Self::Start,
        Self::Lf,
        Self::Cr,
        Self::Other,
        Self::Backslash,
        Self::Escape,
        Self::Percent,
        Self::Hex,
        Self::Encoded,
        Self::Underscore,
        Self::Lower,
        Self::Word,
    ];

    /// The context behind one more byte.
    pub(super) fn then(self, byte: u8) -> Self {
        match (self, byte) {
            (_, b'\n') => Self::Lf,
            (_, b'\r') => Self::Cr,
            (Self::Backslash, b'n' | b'r' | b't' | b'b' | b'f') => Self::Escape,
            (Self::Percent, byte) if byte.is_ascii_hexdigit() => Self::Hex,
            (Self::Hex, byte) if byte.is_ascii_hexdigit() => Self::Encoded,
            (_, b'\\') => Self::Backslash,
            (_, b'%') => Self::Percent,
            (_, b'_') => Self::Underscore,
            (_, b'a'..=b'z') => Self::Lower,
            (_, b'A'..=b'Z' | b'0'..=b'9') => Self::Word,
            _ => Self::Other,
        }
    }

    /// A byte that a regex sees behind it; `None` at the start of the text.
    pub(super) fn byte(self) -> Option<u8> {
        match self {
            Self::Start => None,
            Self::Lf => Some(b'\n'),
            Self::Cr => Some(b'\r'),
            Self::Other | Self::Backslash | Self::Percent => Some(b' '),
            Self::Escape | Self::Hex | Self::Encoded | Self::Underscore | Self::Lower | Self::Word => {
                Some(b'a')
            }
        }
    }

    fn is_word(self) -> bool {
        self.byte() == Some(b'a')
    }
}

/// Behind what a match may start. A lead is looked at and not part of the match, so that text waits only where a match
/// can really have begun.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Lead {
    /// Anything.
    #[default]
    Any,
    /// No word; an underscore, an escape that somebody wrote out, or a byte of a URL.
    Key,
    /// As `Key`, and small letters: for what is written in capitals.
    Capitals,
    /// No word; an underscore or an escape that somebody wrote out.
    Number,
}

impl Lead {
    pub(super) fn allows(self, context: Context) -> bool {
        match (self, context) {
            (Self::Any, _) => true,
            (Self::Capitals, Context::Lower | Context::Hex | Context::Encoded) => true,
            (Self::Key, Context::Encoded) => true,
            (_, Context::Underscore | Context::Escape) => true,
            (_, context) => !context.is_word(),
        }
    }
}
