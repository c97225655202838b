//! `/metrics`: the counts in the text form that Prometheus reads.

use std::fmt::{Display, Write as _};

use http::header::{CONTENT_TYPE, HeaderName};

use super::meter::{BOUNDS, Counts, Meter};

/// The counts now.
pub(super) fn response(meter: &Meter) -> ([(HeaderName, &'static str); 1], String) {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text(meter))
}

fn text(meter: &Meter) -> String {
    let snapshot = meter.policies().snapshot();
    let Counts { streams, requests, open, abandoned, errors, first_byte } = meter.counts().clone();
    let mut page = Page::default();
    page.family("gateway_requests_total", "counter", "Requests, by the status of their answer.");
    for (status, count) in requests {
        page.sample("gateway_requests_total", &[("status", &status)], count);
    }
    page.family("gateway_streams_total", "counter", "Answers that were policed, streamed or whole, by API.");
    for (api, count) in streams {
        page.sample("gateway_streams_total", &[("api", &api)], count);
    }
    page.family("gateway_streams_open", "gauge", "Answers under way.");
    page.sample("gateway_streams_open", &[], open);
    page.family("gateway_streams_abandoned_total", "counter", "Answers whose client went away.");
    page.sample("gateway_streams_abandoned_total", &[], abandoned);
    page.family(
        "gateway_decisions_total",
        "counter",
        "Decisions, by policy, verdict and whether they took place.",
    );
    for counted in &snapshot.decisions {
        page.sample("gateway_decisions_total", &labels(counted), counted.count);
    }
    page.family("gateway_decision_bytes_total", "counter", "Bytes that decisions were about.");
    for counted in &snapshot.decisions {
        page.sample("gateway_decision_bytes_total", &labels(counted), counted.bytes);
    }
    page.family("gateway_held_seconds_total", "counter", "How long what was decided over had been held.");
    for counted in &snapshot.decisions {
        page.sample("gateway_held_seconds_total", &labels(counted), counted.held.as_secs_f64());
    }
    page.family("gateway_held_bytes", "gauge", "Bytes that are held back now.");
    page.sample("gateway_held_bytes", &[], snapshot.held_bytes);
    page.family("gateway_held_bytes_max", "gauge", "The most bytes that one stream held back at once.");
    page.sample("gateway_held_bytes_max", &[], snapshot.held_bytes_max);
    page.family(
        "gateway_errors_total",
        "counter",
        "Streams that were closed for an error, by whose fault it was.",
    );
    for (source, count) in errors {
        page.sample("gateway_errors_total", &[("source", &source)], count);
    }
    page.family(
        "gateway_first_byte_seconds",
        "histogram",
        "From a request to the first byte of its answer's body.",
    );
    for (bound, count) in BOUNDS.iter().zip(first_byte.buckets) {
        let bound = format!("{}", std::time::Duration::from_millis(*bound).as_secs_f64());
        page.sample("gateway_first_byte_seconds_bucket", &[("le", &bound)], count);
    }
    page.sample("gateway_first_byte_seconds_bucket", &[("le", &"+Inf")], first_byte.count);
    page.sample("gateway_first_byte_seconds_sum", &[], first_byte.sum.as_secs_f64());
    page.sample("gateway_first_byte_seconds_count", &[], first_byte.count);
    page.0
}

fn labels(counted: &stream_policies::observe::Counted) -> [(&'static str, &dyn Display); 3] {
    [("policy", &counted.policy), ("verdict", &counted.action), ("enforced", &counted.enforced)]
}

#[derive(Default)]
struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string does not fail.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &dyn Display)], value: impl Display) {
        let labels: Vec<String> = labels
            .iter()
            .map(|(label, value)| format!("{label}=\"{}\"", quoted(&value.to_string())))
            .collect();
        let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }
}

/// A label's value, with what would end it escaped.
fn quoted(value: &str) -> String {
    value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_cannot_break_out() {
        let mut page = Page::default();
        page.sample("a_total", &[("policy", &"x\"} 1\nb_total{y=\"\\")], 1);
        assert_eq!(page.0, "a_total{policy=\"x\\\"} 1\\nb_total{y=\\\"\\\\\"} 1\n");
    }

    #[test]
    fn a_time_counts_in_its_bucket_and_all_above() {
        let meter = Meter::default();
        meter.counts().first_byte.add(std::time::Duration::from_millis(300));
        let text = text(&meter);
        let buckets: Vec<&str> =
            text.lines().filter(|line| line.starts_with("gateway_first_byte_seconds")).collect();
        assert_eq!(
            buckets[6..],
            [
                "gateway_first_byte_seconds_bucket{le=\"0.25\"} 0",
                "gateway_first_byte_seconds_bucket{le=\"0.5\"} 1",
                "gateway_first_byte_seconds_bucket{le=\"1\"} 1",
                "gateway_first_byte_seconds_bucket{le=\"5\"} 1",
                "gateway_first_byte_seconds_bucket{le=\"30\"} 1",
                "gateway_first_byte_seconds_bucket{le=\"+Inf\"} 1",
                "gateway_first_byte_seconds_sum 0.3",
                "gateway_first_byte_seconds_count 1",
            ]
        );
    }
}
