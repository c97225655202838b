//! The top of the page: what was held, why, and for how long, in five seconds.

use std::fmt::Write as _;
use std::time::Duration;

use stream_core::Action;
use stream_testkit::Replayed;

use super::escape::escape;
use super::lane::Lane;
use super::mark::Deed;
use super::timeline::Timeline;
use super::words::{bytes, count, deed, excerpt, time};

pub(super) fn write(page: &mut String, name: &str, replayed: &Replayed, timeline: &Timeline) {
    let entries = Entry::all(timeline);
    page.push_str("<header>\n");
    write_title(page, name, replayed, timeline);
    let _ = writeln!(page, "<p id=\"headline\">{}</p>", escape(&headline(&entries)));
    if let Some(error) = replayed.outcome.as_ref().and_then(|outcome| outcome.error.as_ref()) {
        let _ = writeln!(page, "<p id=\"error\">Closed: {}</p>", escape(&error.to_string()));
    }
    write_figures(page, replayed, timeline, &entries);
    page.push_str("</header>\n");
    if !entries.is_empty() {
        write_table(page, &entries);
    }
}

/// Decisions that say the same of one block.
struct Entry<'a> {
    lane: Option<&'a Lane>,
    deed: &'a Deed,
    times: usize,
    bytes: usize,
    held: Duration,
}

impl<'a> Entry<'a> {
    /// Everything that was decided, what weighs most first.
    fn all(timeline: &'a Timeline) -> Vec<Self> {
        let mut entries: Vec<Self> = Vec::new();
        let general = timeline.deeds.iter().map(|deed| (None, deed));
        let of_lanes =
            timeline.lanes.iter().flat_map(|lane| lane.deeds.iter().map(move |deed| (Some(lane), deed)));
        for (lane, deed) in general.chain(of_lanes) {
            let known = entries.iter_mut().rev().take(RECENT).find(|entry| entry.says_of(lane, deed));
            match known {
                Some(entry) => {
                    entry.times += 1;
                    entry.bytes += deed.bytes;
                    entry.held = entry.held.max(deed.held);
                }
                None => entries.push(Self { lane, deed, times: 1, bytes: deed.bytes, held: deed.held }),
            }
        }
        entries.sort_by_key(|entry| (!entry.deed.enforced, weight(entry.deed.action)));
        entries
    }

    fn says_of(&self, lane: Option<&Lane>, deed: &Deed) -> bool {
        let same = match (self.lane, lane) {
            (Some(one), Some(other)) => std::ptr::eq(one, other),
            (one, other) => one.is_none() && other.is_none(),
        };
        same && self.deed.says(deed)
    }
}

fn weight(action: Action) -> usize {
    match action {
        Action::Failed => 0,
        Action::Terminated => 1,
        Action::Dropped => 2,
        Action::Edited => 3,
        Action::Inserted => 4,
        _ => 5,
    }
}

fn headline(entries: &[Entry<'_>]) -> String {
    let done = || entries.iter().filter(|entry| entry.deed.enforced);
    let of = |action: Action| done().filter(move |entry| entry.deed.action == action);
    let mut parts = Vec::new();
    for (action, what) in [(Action::Dropped, "dropped"), (Action::Edited, "rewritten")] {
        let blocks = of(action).count();
        if blocks > 0 {
            parts.push(format!("{} {what}", count(blocks, "block")));
        }
    }
    let inserted: usize = of(Action::Inserted).map(|entry| entry.times).sum();
    if inserted > 0 {
        parts.push(format!("{} inserted", count(inserted, "text")));
    }
    if let Some(longest) = done().map(|entry| entry.held).max().filter(|longest| !longest.is_zero()) {
        let held = done().filter(|entry| !entry.held.is_zero()).count();
        parts.push(format!("{} held back, for up to {}", count(held, "block"), time(longest)));
    }
    parts.extend(of(Action::Terminated).map(|entry| format!("the stream ended by {}", entry.deed.policy)));
    parts.extend(of(Action::Failed).map(|entry| format!("{} failed", entry.deed.policy)));
    let watched = entries.iter().filter(|entry| !entry.deed.enforced).count();
    if watched > 0 {
        parts.push(format!("{} only watched", count(watched, "decision")));
    }
    if parts.is_empty() {
        return "Nothing was held, dropped or rewritten: the client got what the upstream sent.".to_owned();
    }
    parts.join(" · ")
}

fn write_title(page: &mut String, name: &str, replayed: &Replayed, timeline: &Timeline) {
    let all: usize = timeline.frames.iter().map(|frame| frame.bytes.len()).sum();
    let what = if replayed.whole {
        format!("whole response, {}", bytes(all))
    } else {
        format!("stream, {} in {}", bytes(all), count(timeline.frames.len(), "chunk"))
    };
    let policies =
        if replayed.policies.is_empty() { "no policy".to_owned() } else { replayed.policies.join(" → ") };
    let _ = writeln!(
        page,
        "<h1>{}</h1>\n<p class=\"about\">{} {what} · through <b>{}</b></p>",
        escape(name),
        escape(replayed.format.name()),
        escape(&policies)
    );
}

fn write_figures(page: &mut String, replayed: &Replayed, timeline: &Timeline, entries: &[Entry<'_>]) {
    let done = || entries.iter().filter(|entry| entry.deed.enforced);
    let of = |action: Action| done().filter(|entry| entry.deed.action == action).count().to_string();
    let longest = done().map(|entry| entry.held).max().unwrap_or_default();
    let first_in = timeline.frames.first().map_or(Duration::ZERO, |frame| frame.at);
    let first_out = timeline.pieces.first().map(|piece| piece.at);
    let later = first_out.map(|out| format!("+{}", time(out.saturating_sub(first_in))));
    let most = if longest.is_zero() { 0 } else { replayed.held_max };
    let figures = [
        ("held", "held longest", time(longest)),
        ("held", "held at once", bytes(most)),
        ("dropped", "dropped", of(Action::Dropped)),
        ("rewritten", "rewritten", of(Action::Edited)),
        ("released", "released", of(Action::Released)),
        ("plain", "first byte later by", later.unwrap_or_else(|| "nothing left".to_owned())),
    ];
    page.push_str("<dl id=\"figures\">\n");
    for (class, what, value) in figures {
        let none = if matches!(value.as_str(), "0" | "0 ms" | "0 bytes" | "+0 ms") { " none" } else { "" };
        let _ = writeln!(page, "<div class=\"{class}{none}\"><dt>{what}</dt><dd>{value}</dd></div>");
    }
    page.push_str("</dl>\n");
}

fn write_table(page: &mut String, entries: &[Entry<'_>]) {
    page.push_str("<section>\n<h2>What was decided</h2>\n<table id=\"decided\">\n<thead><tr><th>what</th><th>of</th><th>why</th><th>held for</th><th>by</th><th>bytes</th></tr></thead>\n<tbody>\n");
    for Entry { lane, deed: told, times, bytes: all, held } in entries.iter().take(ROWS) {
        let (class, reason) = (deed(told.action), told.reason.as_deref().unwrap_or("–"));
        let word = if told.enforced { class.to_owned() } else { format!("would have {class}") };
        let several = if *times > 1 { format!(" ×{times}") } else { String::new() };
        let held = if held.is_zero() { "–".to_owned() } else { time(*held) };
        let of = lane.map_or_else(|| "the stream".to_owned(), of);
        let _ = writeln!(
            page,
            "<tr class=\"{class}\"><td><span class=\"chip\">{word}{several}</span></td><td>{of}</td><td class=\"why\">{}</td><td class=\"time\">{held}</td><td>{}</td><td class=\"number\">{all}</td></tr>",
            escape(reason),
            escape(&told.policy),
        );
    }
    page.push_str("</tbody>\n</table>\n");
    if let Some(more) = entries.len().checked_sub(ROWS).filter(|more| *more > 0) {
        let _ = writeln!(page, "<p class=\"about\">and {more} more</p>");
    }
    page.push_str("</section>\n");
}

/// Which block it is, as HTML: its key, kind, name and the start of its text.
fn of(lane: &Lane) -> String {
    let name = lane.name.as_ref().map(|name| format!(" <b>{}</b>", escape(&excerpt(name, 40))));
    let text = excerpt(&lane.text, 60);
    let text = if text.is_empty() { String::new() } else { format!(" <code>{}</code>", escape(&text)) };
    let choice = if lane.choice > 0 { format!(" of choice {}", lane.choice) } else { String::new() };
    format!("{} {}{choice}{}{text}", escape(&lane.key), escape(&lane.kind), name.unwrap_or_default())
}

/// How many entries back one may be that says the same: decisions over a block follow each other.
const RECENT: usize = 16;
/// How many rows the table has at most.
const ROWS: usize = 200;
