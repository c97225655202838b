//! Every chunk, in and out, in full.

use std::fmt::Write as _;

use super::escape::escape;
use super::mark::Leaves;
use super::timeline::Timeline;
use super::words::{excerpt, time};

pub(super) fn write(page: &mut String, timeline: &Timeline) {
    page.push_str("<section class=\"chunks\">\n<h2>Every chunk</h2>\n<details open><summary>in, from the upstream</summary>\n<table id=\"in\"><tbody>\n");
    for frame in timeline.frames.iter().take(ROWS) {
        let number = frame.number;
        let fate = if frame.left.is_some() { "left as it came" } else { "did not leave as it came" };
        row(page, &format!("f{number}"), &format!("f{number}"), &time(frame.at), &frame.bytes, fate);
    }
    page.push_str("</tbody></table></details>\n<details open><summary>out, to the client</summary>\n<table id=\"out\"><tbody>\n");
    for (number, piece) in timeline.pieces.iter().enumerate().take(ROWS) {
        let (name, what) = match piece.as_what {
            Leaves::AsItCame(frame) => (format!("f{frame}"), "as it came"),
            Leaves::Anew(number) => (format!("w{number}"), "written anew"),
            Leaves::KeepAlive => ("–".to_owned(), "keep-alive"),
        };
        row(page, &format!("o{}", number + 1), &name, &time(piece.at), &piece.bytes, what);
    }
    page.push_str("</tbody></table></details>\n");
    let left_out = timeline.frames.len().saturating_sub(ROWS) + timeline.pieces.len().saturating_sub(ROWS);
    if left_out > 0 {
        let _ = writeln!(page, "<p class=\"about\">{left_out} more are left out</p>");
    }
    page.push_str("</section>\n");
}

fn row(page: &mut String, id: &str, name: &str, at: &str, bytes: &[u8], what: &str) {
    let text = String::from_utf8_lossy(bytes);
    let _ = writeln!(
        page,
        "<tr id=\"{id}\"><th>{name}</th><td class=\"time\">{at}</td><td class=\"number\">{}</td><td>{what}</td><td><code>{}</code></td></tr>",
        bytes.len(),
        escape(&excerpt(text.trim_end(), WIDTH))
    );
}

/// How many chunks are listed on each side.
const ROWS: usize = 2000;
/// How much of one is shown.
const WIDTH: usize = 4000;
