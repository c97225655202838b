//! The report as a page, with a link to each timeline.

use std::fmt::Write as _;

use super::report::Report;
use super::run::Tried;
use super::text::what;
use crate::html::escape;

/// The page that the timelines stand beside.
pub(super) fn index(report: &Report, tried: &[Tried]) -> String {
    // Writing to a string does not fail.
    let mut page = String::from(HEAD);
    let Report { recordings, bad, edited, ended, closed, differing, rows } = report;
    let _ = writeln!(
        page,
        "<p id=\"totals\">{recordings} recordings: {edited} edited, {ended} ended, {closed} closed for an error, \
         {differing} differ, {bad} bad</p>\n<table id=\"policies\"><thead><tr><th>what</th><th>decisions</th>\
         <th>recordings</th><th>bytes</th><th>held p50</th><th>held p95</th></tr></thead><tbody>"
    );
    for row in rows {
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{} ms</td><td>{} ms</td></tr>",
            escape(&what(row)),
            row.decisions,
            row.recordings,
            row.bytes,
            row.held_p50.as_millis(),
            row.held_p95.as_millis()
        );
    }
    page.push_str("</tbody></table>\n<table id=\"recordings\"><thead><tr><th>recording</th><th>outcome</th></tr></thead><tbody>\n");
    for one in tried {
        let name = escape(&one.file.display().to_string()).to_string();
        let name = match &one.page {
            Some(link) => format!("<a href=\"{}\">{name}</a>", escape(link)),
            None => name,
        };
        let outcome = match &one.result {
            Err(error) => format!("bad: {error}"),
            Ok(outcome) => {
                let mut said = match (outcome.edited, outcome.ended) {
                    (_, true) => "ended".to_owned(),
                    (true, _) => "edited".to_owned(),
                    _ => "as it came".to_owned(),
                };
                if let Some(error) = &outcome.error {
                    said += &format!("; closed: {error}");
                }
                if let Some(difference) = &outcome.difference {
                    said += &format!(
                        "; before: {}; now: {}",
                        difference.old.join(", "),
                        difference.new.join(", ")
                    );
                }
                said
            }
        };
        let _ = writeln!(page, "<tr><td>{name}</td><td>{}</td></tr>", escape(&outcome));
    }
    page.push_str("</tbody></table>\n</body>\n</html>\n");
    page
}

const HEAD: &str = "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"color-scheme\" content=\"light dark\">
<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">
<title>backtest</title>
<style>
body { margin: 1.5rem; font: 14px/1.5 system-ui, sans-serif; }
table { border-collapse: collapse; margin: 1rem 0; } th { text-align: left; font-weight: normal; opacity: .6; }
th, td { padding: .25rem 1rem .25rem 0; border-bottom: 1px solid color-mix(in srgb, currentcolor 20%, transparent); vertical-align: top; }
</style>
</head>
<body>
<h1>Backtest</h1>
";
