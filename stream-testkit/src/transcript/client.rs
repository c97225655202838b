//! What the client ends up with.

use std::fmt::{self, Write};

use super::redact::Redactor;
use super::text::{bytes, line};
use crate::conformance::{Allow, ChoiceView, Ended, Report};
use crate::replay::Replayed;

/// Writes the client's final view.
pub(super) fn write(out: &mut impl Write, replayed: &Replayed, redactor: &Redactor) -> fmt::Result {
    let report = replayed.check(&Allow::none());
    let view = report.view();
    let ended = match view.ended {
        Ended::Clean => "clean ending",
        Ended::Refused => "refused",
        Ended::Error => "error",
        Ended::Open => "no ending",
    };
    let usage = if view.usage { ", usage" } else { "" };
    writeln!(out, "client: {}, {ended}{usage}", replayed.format)?;
    for choice in &view.choices {
        write_choice(out, choice, view.choices.len() > 1, redactor)?;
    }
    write_report(out, &report)?;
    let error = replayed.outcome.as_ref().and_then(|outcome| outcome.error.as_ref());
    if let Some(error) = error {
        writeln!(out, "  error      {}", line(&error.to_string(), WIDTH))?;
    }
    Ok(())
}

fn write_choice(
    out: &mut impl Write,
    choice: &ChoiceView,
    one_of_many: bool,
    redactor: &Redactor,
) -> fmt::Result {
    if one_of_many {
        writeln!(out, "  choice {}", choice.index)?;
    }
    let texts = [
        ("reasoning", &choice.reasoning),
        ("content", &choice.content),
        ("refusal", &choice.refusal),
        ("spoken", &choice.spoken),
    ];
    for (name, text) in texts.into_iter().filter(|(_, text)| !text.is_empty()) {
        writeln!(out, "  {name:<9}  \"{}\"  {}", line(text, WIDTH), bytes(text.len()))?;
    }
    for call in &choice.calls {
        let (name, kind, id) = (&call.name, &call.kind, redactor.id(&call.id));
        let arguments = line(&call.arguments, WIDTH);
        writeln!(out, "  call       {name}({arguments})  {kind} {id}")?;
    }
    writeln!(out, "  finish     {}", choice.finish.as_deref().unwrap_or("none"))
}

fn write_report(out: &mut impl Write, report: &Report) -> fmt::Result {
    for violation in report.violations() {
        writeln!(out, "  breaks     {}", line(&violation.to_string(), WIDTH))?;
    }
    Ok(())
}

/// How much of a text is shown.
const WIDTH: usize = 100;
