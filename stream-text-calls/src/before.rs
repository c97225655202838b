//! What stands before a marker, and is a call to parsers that take the marker out first and then look at all of the text.

use crate::options::ScanOptions;
use crate::set::Plans;
use crate::watch::Watch;

/// Follows the text, each byte once, through what such a parser takes for a call: an object of a list that has a name and arguments, and
/// a name directly before an object. None of it is held: as long as no marker follows it is text, and the marker is what does not leave.
#[derive(Debug, Clone, Default)]
pub(crate) struct Before {
    /// A call stands there, or, with a call between its parts, may stand there.
    found: bool,
    /// The text ends in a bracket and white space.
    in_list: bool,
    list: Watch,
    object: Option<Braces>,
    /// The word that the text ends in: with calls before it left out, and as it stands behind the last of them.
    words: [Vec<u8>; 2],
    /// The same where reasoning began, which some parsers leave out as well.
    outside: Option<Vec<u8>>,
}

/// The brackets of an object behind a word.
#[derive(Debug, Clone, Copy, Default)]
struct Braces {
    depth: usize,
    in_string: bool,
    escaped: bool,
}

impl Before {
    /// Reads on.
    pub(crate) fn run(&mut self, plans: &Plans, options: &ScanOptions, text: &[u8]) {
        for byte in text {
            self.byte(plans, options, *byte);
        }
    }

    /// A call or a tag stands here, which may be taken out.
    pub(crate) fn interrupt(&mut self) {
        self.found = self.is_call();
        self.in_list = false;
        self.words[1].clear();
    }

    /// Reasoning begins here.
    pub(crate) fn think(&mut self) {
        self.outside = Some(self.words[0].clone());
    }

    /// Reasoning ends here.
    pub(crate) fn thought(&mut self) {
        self.words[0] = self.outside.take().unwrap_or_default();
    }

    /// Whether what stands here is a call, or may become one, if a marker follows.
    pub(crate) fn is_call(&self) -> bool {
        self.found || self.list.is_on() || self.object.is_some()
    }

    /// Whether the text ends in a word.
    pub(crate) fn has_word(&self) -> bool {
        self.words.iter().any(|word| !word.is_empty())
    }

    /// Whether the word before a marker makes another name of one behind it.
    pub(crate) fn joins(&self, options: &ScanOptions, name: &str) -> bool {
        let joined = |word: &Vec<u8>| options.may_run(&format!("{}{name}", String::from_utf8_lossy(word)));
        self.words.iter().any(|word| !word.is_empty() && joined(word))
    }

    fn byte(&mut self, plans: &Plans, options: &ScanOptions, byte: u8) {
        if self.list.is_on() {
            self.found |= self.list.run(plans, options, &[byte]).is_some();
        } else if byte == b'{' && self.in_list {
            self.list.begin(false);
        }
        self.in_list = byte == b'[' || (self.in_list && byte.is_ascii_whitespace());
        match &mut self.object {
            Some(braces) => match braces.byte(byte) {
                Some(false) => {}
                Some(true) => (self.found, self.object) = (true, None),
                None => self.object = None,
            },
            None if byte == b'{' => {
                let may_run = |word: &Vec<u8>| options.may_run(&String::from_utf8_lossy(word));
                let is_named = self.words.iter().any(|word| !word.is_empty() && may_run(word));
                self.object = is_named.then(Braces::default);
            }
            None => {}
        }
        let is_word = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        for word in &mut self.words {
            if !is_word {
                word.clear();
            } else if word.len() < LONGEST_WORD {
                word.push(byte);
            }
        }
    }
}

impl Braces {
    /// Whether the object ends here; `None` if it is none.
    fn byte(&mut self, byte: u8) -> Option<bool> {
        if self.depth == 0 {
            // Behind the brace stands a key or the end.
            return match byte {
                b'"' => {
                    (self.depth, self.in_string) = (1, true);
                    Some(false)
                }
                b'}' => Some(true),
                _ => byte.is_ascii_whitespace().then_some(false),
            };
        }
        match byte {
            _ if self.escaped => self.escaped = false,
            b'\\' if self.in_string => self.escaped = true,
            b'"' => self.in_string = !self.in_string,
            b'{' | b'[' if !self.in_string => self.depth += 1,
            b'}' | b']' if !self.in_string => self.depth -= 1,
            _ => {}
        }
        Some(self.depth == 0)
    }
}

/// The longest name that is looked for.
const LONGEST_WORD: usize = 256;
