//! Whether tagged calls are written as they should be: what is wrong, and where.

use crate::dialect::{Body, Dialect};
use crate::event::{Problem, ProblemKind};
use crate::json::Progress;
use crate::matcher::{Match, Matcher};
use crate::plan::Plan;
use crate::tagged::Tagged;
use crate::template::{Piece, Template};

/// Checks the calls of a tagged dialect in a whole text, more strictly than the scanner, which forgives what models
/// forget: the wrapper must be there and closed, and hold calls with names and closed parameters. Empty if all is well;
/// at most one problem per call, since what follows it can not be told apart.
///
/// ```
/// use stream_text_calls::{ProblemKind, known, validate};
///
/// let problems = validate(&known::anthropic(), r#"Sure. <invoke name="f"></invoke>"#);
/// assert_eq!((&problems[0].kind, problems[0].at), (&ProblemKind::MissingWrapper, 6));
/// ```
#[must_use]
pub fn validate(dialect: &Dialect, text: &str) -> Vec<Problem> {
    let plan = Plan::new(dialect.clone());
    let Body::Parameters(_) = dialect.body else { return Vec::new() };
    let mut check = Check { plan: &plan, text: text.as_bytes(), problems: Vec::new() };
    check.all();
    check.problems
}

struct Check<'a> {
    plan: &'a Plan,
    text: &'a [u8],
    problems: Vec<Problem>,
}

impl Check<'_> {
    fn all(&mut self) {
        let dialect = &self.plan.dialect;
        let mut pos = 0;
        let mut found = false;
        while pos < self.text.len() {
            let wrapper = dialect.wrapper.as_ref().and_then(|wrapper| self.matches(wrapper, pos));
            let next = if let Some(inside) = wrapper {
                self.wrapper(inside)
            } else if self.begins_call(pos) {
                if dialect.wrapper.is_some() {
                    self.problem(ProblemKind::MissingWrapper, pos);
                }
                self.call(pos)
            } else {
                pos += 1;
                continue;
            };
            found = true;
            match next {
                Some(next) => pos = next.max(pos + 1),
                None => return,
            }
        }
        if !found {
            self.problem(ProblemKind::MissingCall, 0);
        }
    }

    /// Calls up to the wrapper's end; where that is, unless something is wrong.
    fn wrapper(&mut self, mut pos: usize) -> Option<usize> {
        let closes = self.plan.dialect.wrapper_close.clone();
        let mut calls = 0;
        loop {
            pos = self.skip_space(pos);
            let closed = closes.iter().find_map(|close| self.matches(&self.plan.dialect.tag(close), pos));
            if let Some(end) = closed {
                if calls == 0 {
                    self.problem(ProblemKind::MissingCall, pos);
                }
                return Some(end);
            }
            if !self.begins_call(pos) {
                let kind = if calls == 0 { ProblemKind::MissingCall } else { ProblemKind::UnclosedWrapper };
                self.problem(kind, pos);
                return None;
            }
            calls += 1;
            pos = self.call(pos)?;
        }
    }

    /// One call; where it ends, unless something is wrong.
    fn call(&mut self, pos: usize) -> Option<usize> {
        let opened = self.plan.dialect.calls.iter().find_map(|call| self.opens(call, pos));
        let Some((inside, name)) = opened else {
            self.problem(ProblemKind::MissingName, pos);
            return None;
        };
        let mut tagged = Tagged::at(inside);
        let before = self.problems.len();
        let end = self.body(&mut tagged);
        for problem in &mut self.problems[before..] {
            problem.tool.clone_from(&name);
            let key = tagged.parameter_at(usize::try_from(problem.at).unwrap_or(usize::MAX));
            problem.parameter = key.map(|key| String::from_utf8_lossy(&self.text[key]).into_owned());
        }
        end
    }

    /// What stands in a call, and its closer; where that ends, unless something is wrong.
    fn body(&mut self, tagged: &mut Tagged) -> Option<usize> {
        match tagged.run(&self.plan.parameters, &self.plan.closer, self.text) {
            Progress::End(end) => return Some(end),
            Progress::Fail { at, kind, .. } => {
                // A parameter's tag that begins well lacks its name.
                let at_tag = self.skip_space(tagged.reached());
                match &self.plan.dialect.body {
                    Body::Parameters(parameters) if self.begins(&parameters.open, at_tag) => {
                        self.problem(ProblemKind::MissingKey, at_tag);
                    }
                    _ => self.problem(kind, at),
                }
            }
            Progress::More => {
                let (at, kind) = tagged.missing().unwrap_or((self.text.len(), ProblemKind::UnclosedCall));
                self.problem(kind, at);
            }
        }
        None
    }

    /// Whether a call's tag stands here, with or without its name.
    fn begins_call(&self, pos: usize) -> bool {
        self.plan.dialect.calls.iter().any(|call| self.begins(call, pos))
    }

    /// Whether what stands here is this tag up to its first hole, and no longer word.
    fn begins(&self, template: &Template, pos: usize) -> bool {
        let literals = template.pieces.iter().map_while(|piece| match piece {
            Piece::Literal { .. } => Some(piece.clone()),
            Piece::Tag(tag) => Some(Piece::Literal { any: tag.any.clone(), optional: false }),
            _ => None,
        });
        let head = Template::of(literals.collect());
        let end = self.matches(&head, pos);
        let next = end.and_then(|end| self.text.get(end));
        end.is_some()
            && (head.ends_with_sign()
                || next.is_none_or(|next| !next.is_ascii_alphanumeric() && *next != b'_'))
    }

    /// Where a call's tag ends, and the name in it.
    fn opens(&self, template: &Template, pos: usize) -> Option<(usize, Option<String>)> {
        let mut matcher = Matcher::at(pos);
        let Match::Done(end) = matcher.run(template, self.text, true) else { return None };
        let name = matcher.name.map(|name| String::from_utf8_lossy(&self.text[name]).into_owned());
        Some((end, name))
    }

    fn matches(&self, template: &Template, pos: usize) -> Option<usize> {
        match Matcher::at(pos).run(template, self.text, true) {
            Match::Done(end) => Some(end),
            _ => None,
        }
    }

    fn skip_space(&self, pos: usize) -> usize {
        let rest = &self.text[pos.min(self.text.len())..];
        pos + rest.iter().take_while(|byte| byte.is_ascii_whitespace()).count()
    }

    fn problem(&mut self, kind: ProblemKind, at: usize) {
        self.problems.push(Problem::new(kind, at as u64));
    }
}
