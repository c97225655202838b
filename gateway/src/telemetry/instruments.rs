//! What is measured over all answers.

use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Counter, Histogram, Meter};
use stream_core::{Decision, Usage};

use super::names;

/// The instruments. The SDK keeps at most 2,000 combinations of attributes of each; further ones are counted together.
#[derive(Debug)]
pub(super) struct Instruments {
    duration: Histogram<f64>,
    first_token: Histogram<f64>,
    tokens: Histogram<u64>,
    decisions: Counter<u64>,
    decision_bytes: Counter<u64>,
    decision_held: Histogram<f64>,
}

impl Instruments {
    pub(super) fn new(meter: &Meter) -> Self {
        let seconds = |name: &'static str, about: &'static str, bounds: &[f64]| {
            let histogram = meter.f64_histogram(name).with_unit("s").with_description(about);
            histogram.with_boundaries(bounds.to_vec()).build()
        };
        Self {
            duration: seconds(names::DURATION, "From a request to the end of its answer.", &SECONDS),
            first_token: seconds(
                names::FIRST_TOKEN,
                "From a request to the first byte of its answer's body.",
                &FIRST,
            ),
            tokens: meter
                .u64_histogram(names::TOKENS)
                .with_unit("{token}")
                .with_description("Tokens of an answer, as its upstream counts them.")
                .with_boundaries((0..14).map(|power| f64::from(4_u32.pow(power))).collect())
                .build(),
            decisions: meter
                .u64_counter(names::DECISIONS)
                .with_unit("{decision}")
                .with_description("Decisions of policies.")
                .build(),
            decision_bytes: meter
                .u64_counter(names::DECISION_BYTES)
                .with_unit("By")
                .with_description("Bytes that decisions were about.")
                .build(),
            decision_held: seconds(
                names::DECISION_HELD,
                "How long what was decided over had been held.",
                &FIRST,
            ),
        }
    }

    pub(super) fn decided(&self, decision: &Decision, attributes: &[KeyValue]) {
        self.decisions.add(1, attributes);
        self.decision_bytes.add(u64::try_from(decision.bytes).unwrap_or(u64::MAX), attributes);
        self.decision_held.record(decision.held.as_secs_f64(), attributes);
    }

    pub(super) fn over(&self, took: Duration, first_byte: Option<Duration>, attributes: &[KeyValue]) {
        self.duration.record(took.as_secs_f64(), attributes);
        if let Some(first_byte) = first_byte {
            self.first_token.record(first_byte.as_secs_f64(), attributes);
        }
    }

    pub(super) fn used(&self, usage: Usage, attributes: &[KeyValue]) {
        for (kind, tokens) in [("input", usage.input), ("output", usage.output)] {
            if let Some(tokens) = tokens {
                let mut attributes = attributes.to_vec();
                attributes.push(KeyValue::new(names::TOKEN_TYPE, kind));
                self.tokens.record(tokens, &attributes);
            }
        }
    }
}

/// The bounds that the conventions name.
const SECONDS: [f64; 14] =
    [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92];
const FIRST: [f64; 16] =
    [0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0];
