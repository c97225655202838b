//! Traces and metrics over OTLP, as a collector gets them.

pub(crate) mod collector;

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use http::StatusCode;
use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use opentelemetry_proto::tonic::trace::v1::status::StatusCode as SpanStatus;
use stream_testkit::server::{Reply, Server};
use stream_testkit::{ChunkLog, Script, WireKind};

use self::collector::{Collector, attributes};
use crate::kit::{Directory, Gateway, question};
use crate::tls::Authority;

const GATE: &str = "[[policy]]\nkind = \"tool-gate\"\nrules = { default = \"allow\", deny = [{ tools = [\"shell\"], because = \"no shells\" }] }\n";
const CANARY: &str = "zebra-quartz-84";

type Attributes = BTreeMap<String, String>;

/// A gateway with a collector, in front of an upstream that gives these replies, streamed or whole, to each API in turn.
async fn told(
    directory: &Directory,
    replies: Vec<(WireKind, bool, Reply)>,
    config: &str,
) -> (Gateway, Server, Collector) {
    let (collector, endpoint) = Collector::start(None).await;
    let mut server = Server::builder();
    for (kind, streamed, reply) in replies {
        server = server.on(question(kind, streamed).0.split('?').next().unwrap(), reply);
    }
    let server = server.scaled(0.0).start().await.unwrap();
    let upstreams: String = WireKind::ALL
        .iter()
        .map(|kind| format!("[upstream.{kind}]\nurl = \"{}\"\n", server.url("")))
        .collect();
    let config = format!("{upstreams}[telemetry]\nendpoint = \"{endpoint}\"\nevery = \"200ms\"\n{config}");
    (Gateway::configured(directory, &config), server, collector)
}

/// Stops the program, which sends what is left.
async fn stopped(gateway: Gateway) {
    gateway.terminate();
    let (code, _) = tokio::task::spawn_blocking(|| gateway.wait()).await.unwrap();
    assert_eq!(code, Some(0));
}

fn script() -> Script {
    Script::new()
        .text("I clean up.")
        .call("call_1", "shell", r#"{"command":"rm -rf /"}"#)
        .call("call_2", "list_files", r#"{"path":"."}"#)
        .usage(3, 9)
}

fn list<const N: usize>(pairs: [(&str, &str); N]) -> Attributes {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

/// A span's attributes without those that are sizes or times of this run, which are all numbers.
fn lasting(span: &Span) -> Attributes {
    let mut all = attributes(&span.attributes);
    for varying in ["gateway.bytes", "gateway.first_byte_ms"] {
        if let Some(number) = all.remove(varying) {
            number.parse::<u64>().unwrap();
        }
    }
    all
}

fn decision(verdict: &str) -> Attributes {
    list([
        ("gateway.policy", "tool_gate"),
        ("gateway.verdict", verdict),
        ("gateway.cause", "verdict"),
        ("gateway.enforced", "true"),
    ])
}

fn said(kind: WireKind) -> (&'static str, &'static str) {
    match kind {
        WireKind::AnthropicMessages => ("chat", "anthropic"),
        WireKind::Gemini => ("generate_content", "gcp.gemini"),
        _ => ("chat", "openai"),
    }
}

#[tokio::test]
async fn every_answer_is_a_span_with_an_event_for_each_decision() {
    let directory = Directory::new("otel-spans");
    let replies = WireKind::ALL.into_iter().flat_map(|kind| {
        let whole = ChunkLog::from_whole("whole.json", script().whole(kind));
        [(kind, true, Reply::new(script().to_log(kind))), (kind, false, Reply::new(whole))]
    });
    let (gateway, _server, collector) = told(&directory, replies.collect(), GATE).await;
    for kind in WireKind::ALL {
        for streamed in [true, false] {
            let answer = gateway.ask(kind, streamed).await;
            assert_eq!((answer.status, answer.text().matches("rm -rf").count()), (StatusCode::OK, 0));
        }
    }
    stopped(gateway).await;
    let spans = collector.spans();
    assert_eq!(spans.len(), 8);
    for (number, span) in spans.iter().enumerate() {
        let kind = WireKind::ALL[number / 2];
        let (operation, provider) = said(kind);
        assert_eq!(span.name, format!("{operation} demo"), "{kind}");
        assert_eq!((span.kind(), span.dropped_events_count), (SpanKind::Server, 0));
        // Two of the APIs have no finish reason for calls.
        let finish = match kind {
            WireKind::OpenAiChat | WireKind::AnthropicMessages => "tool_calls",
            _ => "stop",
        };
        assert_eq!(
            lasting(span),
            list([
                ("gen_ai.operation.name", operation),
                ("gen_ai.provider.name", provider),
                ("gen_ai.request.model", "demo"),
                ("gen_ai.response.finish_reasons", finish),
                ("gen_ai.usage.input_tokens", "3"),
                ("gen_ai.usage.output_tokens", "9"),
                ("http.response.status_code", "200"),
                ("gateway.api", kind.name()),
                ("gateway.request", &(number + 1).to_string()),
                ("gateway.stayed", "true"),
                ("gateway.ended", "finished"),
                ("gateway.decided", "2"),
            ]),
            "{kind}"
        );
        let events: Vec<(&str, Attributes)> = span
            .events
            .iter()
            .map(|event| {
                let mut attributes = attributes(&event.attributes);
                for number in ["gateway.bytes", "gateway.held_ms"] {
                    attributes.remove(number).unwrap().parse::<u64>().unwrap();
                }
                (event.name.as_str(), attributes)
            })
            .collect();
        assert_eq!(
            events,
            [("gateway.decision", decision("dropped")), ("gateway.decision", decision("released"))],
            "{kind}"
        );
        for event in &span.events {
            assert!(span.start_time_unix_nano <= event.time_unix_nano);
            assert!(event.time_unix_nano <= span.end_time_unix_nano);
        }
    }
    let gateway = list([("service.name", "gateway"), ("service.version", env!("CARGO_PKG_VERSION"))]);
    assert_eq!(collector.resources(), [gateway]);
}

#[tokio::test]
async fn metrics_have_the_names_of_the_conventions() {
    let directory = Directory::new("otel-metrics");
    let kind = WireKind::OpenAiChat;
    let reply = Reply::new(script().to_log(kind));
    let hash = crate::doors::sha256("key-of-ci");
    let config = format!("[[client]]\nname = \"ci\"\nkey_sha256 = \"{hash}\"\n{GATE}");
    let (gateway, _server, collector) =
        told(&directory, vec![(kind, true, reply.clone()), (kind, true, reply)], &config).await;
    let (path, body) = question(kind, true);
    for key in ["key-of-ci", "key-of-ci", "wrong"] {
        let request = http::Request::post(gateway.url(path)).header("x-api-key", key);
        crate::doors::answer(request.body(http_body_util::Full::from(body.clone())).unwrap()).await;
    }
    stopped(gateway).await;
    let labels = list([
        ("gen_ai.operation.name", "chat"),
        ("gen_ai.provider.name", "openai"),
        ("gen_ai.request.model", "demo"),
        ("gateway.api", "openai-chat"),
        ("gateway.client", "ci"),
    ]);
    let with = |more: Attributes| labels.clone().into_iter().chain(more).collect::<Attributes>();
    let token = |kind: &str| with(list([("gen_ai.token.type", kind)]));
    let decided = |name: &str| {
        [("dropped", 2), ("released", 2)]
            .map(|(verdict, count)| (name.to_owned(), with(decision(verdict)), count))
    };
    let mut series = collector.series();
    // How many bytes decisions were about differs with the frames; that some were is told by their presence.
    for (name, _, count, _) in &mut series {
        if name == "gateway.decision.bytes" {
            assert_ne!(*count, 0);
            *count = 2;
        }
    }
    let mut expected: Vec<_> = ["gateway.decision.bytes", "gateway.decision.held", "gateway.decisions"]
        .iter()
        .flat_map(|name| decided(name))
        .map(|(name, labels, count)| (name, labels, count, None))
        .collect();
    let tokens = |kind, sum| ("gen_ai.client.token.usage".to_owned(), token(kind), 2, Some(sum));
    expected.extend([
        tokens("input", 6),
        tokens("output", 18),
        ("gen_ai.server.request.duration".to_owned(), labels.clone(), 2, None),
        ("gen_ai.server.time_to_first_token".to_owned(), labels.clone(), 2, None),
    ]);
    assert_eq!(series, expected);
    // A request of nobody is a span and no answer of a model.
    let spans = collector.spans();
    assert_eq!(spans.len(), 3);
    assert_eq!(lasting(&spans[0])["gateway.client"], "ci");
    assert_eq!(
        (spans[2].name.as_str(), lasting(&spans[2])),
        (
            "request",
            list([
                ("http.response.status_code", "401"),
                ("error.type", "401"),
                ("gateway.request", "3"),
                ("gateway.stayed", "true"),
                ("gateway.decided", "0"),
            ])
        )
    );
}

/// Nothing that a model, a tool or an upstream wrote is told, nor what was asked, nor a key.
#[tokio::test]
async fn no_text_of_a_stream_is_ever_told() {
    let directory = Directory::new("otel-canary");
    let word = CANARY;
    let arguments = format!(r#"{{"command":"{word}"}}"#);
    let mut replies = Vec::new();
    for kind in WireKind::ALL {
        let script = Script::new().text(word).reasoning(word).call(word, "shell", arguments.clone()).call(
            "call_2",
            word,
            arguments.clone(),
        );
        let odd = ChunkLog::from_whole("odd.json", format!(r#"{{"no answer":"{word}","id":"{word}"}}"#));
        let failed = ChunkLog::from_whole(
            "error.json",
            format!(r#"{{"error":{{"message":"{word}","type":"{word}","code":"{word}"}}}}"#),
        );
        replies.extend([
            (kind, true, Reply::new(script.to_log(kind))),
            (kind, false, Reply::new(ChunkLog::from_whole("whole.json", script.whole(kind)))),
            (kind, true, Reply::new(Script::new().text(word).error(word).to_log(kind))),
            (kind, true, Reply::new(Script::new().text(word).cut().to_log(kind))),
            (kind, true, Reply::new(odd)),
            (kind, true, Reply::new(failed).status(500)),
        ]);
    }
    // What tools of the provider answered, a finish reason of its own words, and names that are not the format's.
    let results = [
        (
            WireKind::AnthropicMessages,
            format!(
                "event: message_start\ndata: {{\"type\":\"message_start\",\"message\":{{\"id\":\"{word}\",\"type\":\"message\",\"role\":\"assistant\",\"model\":\"{word}\",\"content\":[],\"stop_reason\":null,\"stop_sequence\":null,\"usage\":{{\"input_tokens\":1,\"output_tokens\":1}}}}}}\n\n\
                 event: content_block_start\ndata: {{\"type\":\"content_block_start\",\"index\":0,\"content_block\":{{\"type\":\"web_search_tool_result\",\"tool_use_id\":\"{word}\",\"content\":[{{\"type\":\"web_search_result\",\"title\":\"{word}\",\"url\":\"{word}\",\"encrypted_content\":\"{word}\"}}]}}}}\n\n\
                 event: content_block_stop\ndata: {{\"type\":\"content_block_stop\",\"index\":0}}\n\n\
                 event: message_delta\ndata: {{\"type\":\"message_delta\",\"delta\":{{\"stop_reason\":\"{word}\",\"stop_sequence\":\"{word}\"}},\"usage\":{{\"output_tokens\":2}}}}\n\n\
                 event: message_stop\ndata: {{\"type\":\"message_stop\"}}\n\n"
            ),
        ),
        (
            WireKind::OpenAiChat,
            format!(
                "data: {{\"id\":\"{word}\",\"model\":\"{word}\",\"{word}\":1,\"choices\":[{{\"index\":0,\"delta\":{{\"role\":\"assistant\",\"content\":\"a\"}},\"finish_reason\":null}}]}}\n\n\
                 data: {{\"choices\":[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{word}\"}}]}}\n\ndata: [DONE]\n\n"
            ),
        ),
    ];
    for (kind, text) in &results {
        let log = ChunkLog::from_chunks("results", [(Duration::ZERO, bytes::Bytes::from(text.clone()))]);
        replies.push((*kind, true, Reply::new(log)));
    }
    let asked: Vec<(WireKind, bool)> = replies.iter().map(|(kind, streamed, _)| (*kind, *streamed)).collect();
    // The reasons of this policy quote what it saw.
    let config = format!("[[policy]]\nkind = \"validate-parameters\"\n{GATE}");
    let (gateway, _server, collector) = told(&directory, replies, &config).await;
    let mut statuses = BTreeMap::new();
    for (kind, streamed) in &asked {
        let (path, body) = question(*kind, *streamed);
        let tools = match kind {
            WireKind::OpenAiChat => format!(
                r#""tools":[{{"type":"function","function":{{"name":"{word}","parameters":{{"type":"object","required":["path"],"properties":{{"path":{{"type":"string"}}}}}}}}}}],"#
            ),
            _ => String::new(),
        };
        let body = body.replacen('{', &format!(r#"{{{tools}"metadata":{{"of":"{word}"}},"#), 1);
        let headers = [("x-api-key", word), ("x-goog-api-key", word), ("x-note", word)];
        let path = format!("{path}{}key={word}", if path.contains('?') { '&' } else { '?' });
        let answer = gateway.post_with(&path, &body, &headers).await;
        *statuses.entry(answer.status.as_u16()).or_insert(0) += 1;
    }
    stopped(gateway).await;
    assert_eq!(collector.spans().len(), asked.len());
    assert_eq!(statuses, BTreeMap::from([(200, 18), (500, 4), (502, 4)]));
    // Two calls of eight answers before two policies; in two answers the first one drops the call that was offered.
    let decided = collector.spans().iter().map(|span| span.events.len()).sum::<usize>();
    assert_eq!(decided, 30);
    let bytes = collector.bytes();
    for window in word.as_bytes().windows(6) {
        let found = bytes.windows(6).filter(|other| *other == window).count();
        assert_eq!(found, 0, "{}", String::from_utf8_lossy(window));
    }
}

#[tokio::test]
async fn an_answer_that_fails_says_how_in_a_word() {
    let directory = Directory::new("otel-errors");
    let kind = WireKind::OpenAiChat;
    let failed = ChunkLog::from_whole("error.json", r#"{"error":{"message":"busy","type":"server_error"}}"#);
    let replies = [
        Reply::new(failed).status(503),
        Reply::new(Script::new().text("Hel").cut().to_log(kind)),
        Reply::new(Script::new().text("y".repeat(9000)).to_log(kind)),
    ];
    let replies = replies.into_iter().map(|reply| (kind, true, reply)).collect();
    let (gateway, _server, collector) =
        told(&directory, replies, &format!("[limits]\nframe = 4096\n{GATE}")).await;
    for _ in 0..3 {
        gateway.ask(kind, true).await;
    }
    stopped(gateway).await;
    let fared: Vec<(Option<String>, Option<String>, SpanStatus, String)> = collector
        .spans()
        .iter()
        .map(|span| {
            let mut attributes = attributes(&span.attributes);
            let status = span.status.clone().unwrap_or_default();
            let (error, ended) = (attributes.remove("error.type"), attributes.remove("gateway.ended"));
            (error, ended, status.code(), status.message)
        })
        .collect();
    let word = |word: &str| Some(word.to_owned());
    assert_eq!(
        fared,
        [
            (word("503"), None, SpanStatus::Error, String::new()),
            (None, word("cut"), SpanStatus::Unset, String::new()),
            (word("FrameTooLarge"), word("cut"), SpanStatus::Error, String::new()),
        ]
    );
}

#[tokio::test]
async fn a_span_is_a_child_of_the_clients_whether_or_not_that_is_sampled() {
    let directory = Directory::new("otel-parent");
    let kind = WireKind::OpenAiChat;
    let replies = (0..2).map(|_| (kind, true, Reply::new(script().to_log(kind)))).collect();
    let (gateway, _server, collector) = told(&directory, replies, GATE).await;
    let (path, body) = question(kind, true);
    for flags in ["00", "01"] {
        let parent = format!("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-{flags}");
        gateway.post_with(path, &body, &[("traceparent", &parent)]).await;
    }
    stopped(gateway).await;
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let parents: Vec<_> =
        collector.spans().iter().map(|span| (hex(&span.trace_id), hex(&span.parent_span_id))).collect();
    let expected = ("0af7651916cd43dd8448eb211c80319c".to_owned(), "b7ad6b7169203331".to_owned());
    assert_eq!(parents, [expected.clone(), expected]);
}

#[tokio::test]
async fn decisions_beyond_the_events_of_a_span_are_counted() {
    let directory = Directory::new("otel-many");
    let kind = WireKind::OpenAiChat;
    let script = (0..1500).fold(Script::new(), |script, number| {
        script.call(format!("call_{number}"), "list_files", r#"{"path":"."}"#)
    });
    let replies = vec![(kind, true, Reply::new(script.to_log(kind)))];
    let (gateway, _server, collector) = told(&directory, replies, GATE).await;
    gateway.ask(kind, true).await;
    stopped(gateway).await;
    let span = &collector.spans()[0];
    assert_eq!((span.events.len(), span.dropped_events_count), (1000, 500));
    assert_eq!(attributes(&span.attributes)["gateway.decided"], "1500");
}

#[tokio::test]
async fn a_collector_over_tls_gets_headers_from_the_environment_and_no_more_spans_than_asked_for() {
    let (directory, authority) = (Directory::new("otel-tls"), Authority::new());
    directory.file("ca.pem", &authority.pem());
    let (certificate, key) = authority.sign("localhost");
    let (collector, endpoint) = Collector::start(Some((certificate.pem(), key.serialize_pem()))).await;
    let telemetry = format!(
        "[telemetry]\nendpoint = \"{endpoint}\"\nca = \"ca.pem\"\nevery = \"200ms\"\nservice = \"edge\"\nsample = 0.0\nheaders_env = {{ x-token = \"COLLECTOR_TOKEN\" }}\n{GATE}"
    );
    let file = directory.file("gateway.toml", &telemetry);
    let gateway = Gateway::start_with(&["--config", &file], &[("COLLECTOR_TOKEN", "of the collector")]);
    gateway.ask(WireKind::OpenAiChat, true).await;
    stopped(gateway).await;
    assert_eq!(collector.spans(), []);
    let counted: Vec<_> =
        collector.series().into_iter().filter(|series| series.0 == "gateway.decisions").collect();
    assert_eq!(counted.len(), 2);
    let mut tokens = collector.tokens();
    tokens.dedup();
    assert_eq!(tokens, [Some("of the collector".to_owned())]);
    let edge = list([("service.name", "edge"), ("service.version", env!("CARGO_PKG_VERSION"))]);
    assert_eq!(collector.resources(), [edge]);
}

#[tokio::test]
async fn a_collector_that_is_not_there_costs_no_answer_and_ends_with_the_program() {
    let directory = Directory::new("otel-gone");
    let free = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let config = format!("[telemetry]\nendpoint = \"http://{free}\"\nevery = \"100ms\"\n{GATE}");
    let gateway = Gateway::configured(&directory, &config);
    for kind in WireKind::ALL {
        let answer = gateway.ask(kind, true).await;
        assert_eq!(answer.report(kind, true).view().choices[0].calls.len(), 1, "{kind}");
    }
    let start = Instant::now();
    stopped(gateway).await;
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}
