//! The timeline: a lane for the upstream, one for each block, and one for the client.

use std::fmt::Write as _;

use super::escape::escape;
use super::lane::{Lane, Mark};
use super::mark::{Deed, Leaves};
use super::timeline::Timeline;
use super::words::{bytes, count, deed, excerpt, time};

pub(super) fn write(page: &mut String, timeline: &Timeline) {
    // Each moment needs a few pixels: a long stream is scrolled through.
    let width = (timeline.scale.len() * 9).clamp(640, 30_000);
    let _ = writeln!(
        page,
        "<section>\n<h2>Timeline</h2>\n{LEGEND}<div class=\"scroll\"><div id=\"timeline\" style=\"min-width:{width}px\">"
    );
    write_upstream(page, timeline);
    for lane in timeline.lanes.iter().take(LANES) {
        write_lane(page, lane, timeline);
    }
    if let Some(more) = timeline.lanes.len().checked_sub(LANES).filter(|more| *more > 0) {
        open(page, "more", "", &format!("and {more} more blocks"), "");
        close(page);
    }
    write_client(page, timeline);
    write_axis(page, timeline);
    page.push_str("</div></div>\n</section>\n");
}

fn write_upstream(page: &mut String, timeline: &Timeline) {
    open(page, "ends", "upstream", &count(timeline.frames.len(), "chunk"), "");
    // Frames next to each other are one mark where there are too many.
    for frames in timeline.frames.chunks(timeline.frames.len().div_ceil(MARKS).max(1)) {
        let [first, .., last] = frames else {
            let Some(only) = frames.first() else { continue };
            let tip = format!("f{} came at {}, {}", only.number, time(only.at), bytes(only.bytes.len()));
            let text = String::from_utf8_lossy(&only.bytes);
            mark(page, "came", timeline.scale.place(only.moment), only.number, &tip, &text);
            continue;
        };
        let tip = format!(
            "f{} to f{} came from {} to {}",
            first.number,
            last.number,
            time(first.at),
            time(last.at)
        );
        mark(page, "came", timeline.scale.place(first.moment), first.number, &tip, "");
    }
    close(page);
}

fn write_lane(page: &mut String, lane: &Lane, timeline: &Timeline) {
    let name = lane.name.as_ref().map(|name| format!(" {}", excerpt(name, 24))).unwrap_or_default();
    let choice = if lane.choice > 0 { format!(", choice {}", lane.choice) } else { String::new() };
    let fate = lane.fate();
    let chip = format!("<span class=\"chip {}\">{}</span>", fate.class(), fate.words());
    open(page, "block", &format!("{} {}{name}", lane.key, lane.kind), &choice, &chip);
    for mark in &lane.marks {
        write_mark(page, lane, mark, timeline);
    }
    page.push_str("</div>");
    if let Some((from, to, lasted)) = lane.waited {
        let told = format!("waited {} for what is before it", time(lasted));
        let places = (timeline.scale.place(from), timeline.scale.place(to));
        page.push_str("<div class=\"row waited\">");
        write_bar(page, places, &told);
        write_told(page, places, &told);
        page.push_str("</div>");
    }
    for alike in alike(&lane.deeds).iter().take(BARS) {
        write_deeds(page, alike, timeline);
    }
    page.push_str("</div></div>\n");
}

fn write_mark(page: &mut String, lane: &Lane, mark: &Mark, timeline: &Timeline) {
    let Mark { frames: (first, last), at, from, to, text } = mark;
    let frames = if first == last { format!("f{first}") } else { format!("f{first} to f{last}") };
    let tip = format!("{} {} in {frames}, came at {}", lane.key, lane.kind, time(*at));
    let (left, right) = (timeline.scale.place(*from), timeline.scale.place(*to));
    if first == last {
        self::mark(page, "piece", left, *first, &tip, text);
    } else {
        let _ = write!(
            page,
            "<a class=\"mark piece\" style=\"left:{left:.2}%;width:{:.2}%\" href=\"#f{first}\"><span class=\"tip\"><b>{}</b><code>{}</code></span></a>",
            right - left,
            escape(&tip),
            escape(&excerpt(text, TIP))
        );
    }
}

/// The decisions that are drawn, those that say the same together.
fn alike(deeds: &[Deed]) -> Vec<Vec<&Deed>> {
    let mut rows: Vec<Vec<&Deed>> = Vec::new();
    for deed in deeds.iter().filter(|deed| !deed.held.is_zero() || deed.action.is_edit()) {
        match rows.iter_mut().take(BARS).find(|row| row.first().is_some_and(|first| first.says(deed))) {
            Some(row) => row.push(deed),
            None => rows.push(vec![deed]),
        }
    }
    rows
}

/// A row of bars, and what is to be told of them.
fn write_deeds(page: &mut String, deeds: &[&Deed], timeline: &Timeline) {
    let Some(longest) = deeds.iter().max_by_key(|deed| deed.held) else { return };
    let word = deed(longest.action);
    let done = if longest.enforced { word.to_owned() } else { format!("would have {word}") };
    let times = if deeds.len() > 1 { format!(" ×{}", deeds.len()) } else { String::new() };
    let held = if longest.held.is_zero() { String::new() } else { format!("held {}, ", time(longest.held)) };
    let reason = longest.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
    let _ = write!(page, "<div class=\"row {}\">", if longest.enforced { word } else { "watched" });
    for one in deeds.iter().take(MARKS) {
        let told = format!("{} {done}{reason}; held {}, {}", one.policy, time(one.held), bytes(one.bytes));
        write_bar(page, (timeline.scale.place(one.from), timeline.scale.place(one.to)), &told);
    }
    let places = (timeline.scale.place(longest.from), timeline.scale.place(longest.to));
    write_told(page, places, &format!("{held}{done}{times}{}", excerpt(&reason, 60)));
    page.push_str("</div>");
}

fn write_bar(page: &mut String, (left, right): (f64, f64), told: &str) {
    let _ = write!(
        page,
        "<a class=\"bar\" tabindex=\"0\" style=\"left:{left:.2}%;width:{:.2}%\"><span class=\"tip\"><b>{}</b></span></a>",
        right - left,
        escape(told)
    );
}

/// What begins far to the right is told to the left of its end.
fn write_told(page: &mut String, (left, right): (f64, f64), told: &str) {
    let (side, place) = if left > 55.0 { ("right", 100.0 - right) } else { ("left", left) };
    let _ = write!(page, "<span class=\"told\" style=\"{side}:{place:.2}%\">{}</span>", escape(told));
}

fn write_client(page: &mut String, timeline: &Timeline) {
    let anew = timeline.pieces.iter().filter(|piece| matches!(piece.as_what, Leaves::Anew(_))).count();
    let about = if anew > 0 { format!(", {anew} written anew") } else { String::new() };
    open(page, "ends", "client", &format!("{}{about}", count(timeline.pieces.len(), "chunk")), "");
    let every = timeline.pieces.len().div_ceil(MARKS).max(1);
    let (mut last, mut beside) = (None, 0);
    for (number, piece) in timeline.pieces.iter().enumerate().step_by(every) {
        // What left at once stands side by side, as far as there is room.
        beside = if last == Some(piece.moment) { (beside + 1).min(12) } else { 0 };
        last = Some(piece.moment);
        let (class, what) = match piece.as_what {
            Leaves::AsItCame(frame) => ("left", format!("f{frame} as it came")),
            Leaves::Anew(number) => ("anew", format!("w{number}, written anew")),
            Leaves::KeepAlive => ("alive", "a keep-alive".to_owned()),
        };
        let tip = format!("{what}, left at {}, {}", time(piece.at), bytes(piece.bytes.len()));
        let place = timeline.scale.place(piece.moment);
        let text = String::from_utf8_lossy(&piece.bytes);
        let _ = write!(
            page,
            "<a class=\"mark {class}\" style=\"left:calc({place:.2}% + {}px)\" href=\"#o{}\"><span class=\"tip\"><b>{}</b><code>{}</code></span></a>",
            beside * 7,
            number + 1,
            escape(&tip),
            escape(&excerpt(&text, TIP))
        );
    }
    close(page);
}

fn write_axis(page: &mut String, timeline: &Timeline) {
    page.push_str(
        "<div class=\"lane axis\"><div class=\"label\">since the request</div><div class=\"track\">",
    );
    for (place, at) in timeline.scale.ticks() {
        let _ = write!(page, "<span class=\"tick\" style=\"left:{place:.2}%\">{}</span>", time(at));
    }
    for silence in timeline.scale.silences() {
        let _ = write!(
            page,
            "<span class=\"silence\" style=\"left:{:.2}%;width:{:.2}%\">⋯ {} ⋯</span>",
            silence.from,
            silence.to - silence.from,
            time(silence.lasted)
        );
    }
    close(page);
}

/// Opens a lane: its label, and its track.
fn open(page: &mut String, class: &str, name: &str, about: &str, chip: &str) {
    let _ = write!(
        page,
        "<div class=\"lane {class}\"><div class=\"label\"><b>{}</b> <small>{}</small>{chip}</div><div class=\"track\"><div class=\"marks\">",
        escape(name),
        escape(about)
    );
}

fn close(page: &mut String) {
    page.push_str("</div></div></div>\n");
}

fn mark(page: &mut String, class: &str, place: f64, frame: usize, tip: &str, text: &str) {
    let _ = write!(
        page,
        "<a class=\"mark {class}\" style=\"left:{place:.2}%\" href=\"#f{frame}\"><span class=\"tip\"><b>{}</b><code>{}</code></span></a>",
        escape(tip),
        escape(&excerpt(text, TIP))
    );
}

const LEGEND: &str = "<p class=\"legend\"><span class=\"key released\">held, then released</span><span class=\"key dropped\">held, then dropped</span><span class=\"key rewritten\">rewritten</span><span class=\"key waited\">waited its turn</span><span class=\"key left\">left as it came</span><span class=\"key anew\">written anew</span><span class=\"about\">point at anything to read it</span></p>\n";
/// How much of a chunk is shown when it is pointed at.
const TIP: usize = 600;
/// About how many marks a lane has at most.
const MARKS: usize = 1000;
/// How many lanes there are at most.
const LANES: usize = 200;
/// How many rows of decisions a block has at most.
const BARS: usize = 12;
