//! A replay as one page: what came, what left, what was held, by whom, why, and for how long.
//!
//! The page stands for itself: no script, no image, nothing is loaded. What a model wrote is hostile; every text goes
//! through [`escape()`], and the page's own policy forbids scripts in case one slips through.

mod chunks;
mod client;
mod escape;
mod lane;
mod lanes;
mod mark;
mod scale;
mod summary;
#[cfg(test)]
mod tests;
mod timeline;
mod words;

use std::fmt::Write as _;

use stream_testkit::Replayed;

pub(crate) use self::escape::escape;
use self::timeline::Timeline;

/// The page of a replay.
pub(crate) fn page(replayed: &Replayed) -> String {
    let timeline = Timeline::of(replayed);
    let name = replayed.name.rsplit(['/', '\\']).next().unwrap_or(&replayed.name);
    let mut page = String::new();
    // Writing to a string does not fail.
    let _ = write!(page, "{HEAD}<title>{} · replay</title>\n<style>\n{STYLE}</style>\n", escape(name));
    page.push_str("</head>\n<body>\n");
    summary::write(&mut page, name, replayed, &timeline);
    lanes::write(&mut page, &timeline);
    client::write(&mut page, replayed);
    chunks::write(&mut page, &timeline);
    page.push_str("</body>\n</html>\n");
    page
}

const HEAD: &str = "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<meta name=\"color-scheme\" content=\"light dark\">
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">
";
const STYLE: &str = include_str!("style.css");
