//! `/metrics`: the counts in the text form that Prometheus reads.

use std::fmt::{Display, Write as _};

use http::header::{CONTENT_TYPE, HeaderName};

use stream_policies::observe::{Counted, Snapshot};

use super::meter::{BOUNDS, Counts, Meter, RunOf};
use crate::doors::ClientName;

/// The counts now.
pub(crate) fn response(meter: &Meter) -> ([(HeaderName, &'static str); 1], String) {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text(meter))
}

fn text(meter: &Meter) -> String {
    let decided: Vec<_> =
        meter.policies().iter().map(|(client, metrics)| (client.clone(), metrics.snapshot())).collect();
    let Counts { streams, requests, open, abandoned, errors, first_byte, runs, reloads } =
        meter.counts().clone();
    let mut page = Page::default();
    page.family("gateway_requests_total", "counter", "Requests, by client and the status of their answer.");
    for ((client, status), count) in requests {
        page.sample("gateway_requests_total", &of_client(client.as_ref(), &[("status", &status)]), count);
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
    for (client, counted) in each(&decided) {
        page.sample("gateway_decisions_total", &of_client(client, &labels(counted)), counted.count);
    }
    page.family("gateway_decision_bytes_total", "counter", "Bytes that decisions were about.");
    for (client, counted) in each(&decided) {
        page.sample("gateway_decision_bytes_total", &of_client(client, &labels(counted)), counted.bytes);
    }
    page.family("gateway_held_seconds_total", "counter", "How long what was decided over had been held.");
    for (client, counted) in each(&decided) {
        page.sample(
            "gateway_held_seconds_total",
            &of_client(client, &labels(counted)),
            counted.held.as_secs_f64(),
        );
    }
    page.family("gateway_held_bytes", "gauge", "Bytes that are held back now.");
    let held: usize = decided.iter().map(|(_, snapshot)| snapshot.held_bytes).sum();
    page.sample("gateway_held_bytes", &[], held);
    page.family("gateway_held_bytes_max", "gauge", "The most bytes that one stream held back at once.");
    let most = decided.iter().map(|(_, snapshot)| snapshot.held_bytes_max).max().unwrap_or_default();
    page.sample("gateway_held_bytes_max", &[], most);
    page.family(
        "gateway_errors_total",
        "counter",
        "Streams that were closed for an error, by whose fault it was.",
    );
    for (source, count) in errors {
        page.sample("gateway_errors_total", &[("source", &source)], count);
    }
    page.family(
        "gateway_tool_runs_total",
        "counter",
        "Calls that the gateway ran, by tool, outcome and turn of the loop.",
    );
    for (of, runs) in &runs {
        page.sample("gateway_tool_runs_total", &of_client(of.client.as_ref(), &of_run(of)), runs.count);
    }
    page.family("gateway_tool_run_seconds_total", "counter", "How long these calls ran.");
    for (of, runs) in &runs {
        let took = runs.took.as_secs_f64();
        page.sample("gateway_tool_run_seconds_total", &of_client(of.client.as_ref(), &of_run(of)), took);
    }
    page.family(
        "gateway_config_reloads_total",
        "counter",
        "Configurations that have changed while the program ran, by what became of them.",
    );
    page.sample("gateway_config_reloads_total", &[("result", &"taken")], reloads.taken);
    page.sample("gateway_config_reloads_total", &[("result", &"refused")], reloads.refused);
    page.family("gateway_config_behind", "gauge", "Whether the last changed configuration was refused.");
    page.sample("gateway_config_behind", &[], u8::from(reloads.is_behind));
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

type Decided = (Option<ClientName>, Snapshot);

/// Every count of decisions, with its client.
fn each(decided: &[Decided]) -> impl Iterator<Item = (Option<&ClientName>, &Counted)> {
    decided.iter().flat_map(|(client, snapshot)| {
        snapshot.decisions.iter().map(move |counted| (client.as_ref(), counted))
    })
}

/// Labels, and that of the client before them, if there is one.
fn of_client<'a>(
    client: Option<&'a ClientName>,
    labels: &[(&'static str, &'a dyn Display)],
) -> Vec<(&'static str, &'a dyn Display)> {
    let client = client.map(|client| ("client", client as &dyn Display));
    client.into_iter().chain(labels.iter().copied()).collect()
}

fn labels(counted: &Counted) -> [(&'static str, &dyn Display); 3] {
    [("policy", &counted.policy), ("verdict", &counted.action), ("enforced", &counted.enforced)]
}

fn of_run(of: &RunOf) -> [(&'static str, &dyn Display); 3] {
    [("tool", &of.tool), ("outcome", &of.outcome), ("iteration", &of.iteration)]
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
