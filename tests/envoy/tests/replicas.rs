//! Several replicas of `gateway envoy`, with the real Envoy and the real Redis.
#![allow(clippy::panic, clippy::unwrap_used)]

use std::time::{Duration, Instant};

use bytes::Bytes;
use envoy_suite::{Client, Envoy, Model, Place, Program, Redis, Reply, Version};
use stream_testkit::{ChunkLog, Cut, Fragments, Script, WireKind};

const CHAT: &str = "/v1/chat/completions";
const REQUEST: &str = r#"{"model":"some-model","stream":true,"messages":[]}"#;
const PASS: &str = "[[policy]]\nkind = \"passthrough\"\n";

/// A stream of some seconds.
fn slow() -> (ChunkLog, Reply) {
    let log = Script::new()
        .text_fragments(Fragments::Chars(4))
        .text("It takes a while.")
        .to_log(WireKind::OpenAiChat);
    let pieces = Cut::Event.apply(&log).into_iter().map(|(_, piece)| (Duration::from_millis(700), piece));
    let reply = Reply::events(pieces.collect::<Vec<_>>());
    (log, reply)
}

/// A number of the metrics of a program.
async fn count(program: &Program, name: &str) -> u64 {
    let page = Client::new(program.admin, Version::Http1).get("/metrics").await.text();
    let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name} is not in {page}"))
}

/// A replica that is killed breaks only its own streams; one that is asked to stop finishes them. New requests all succeed.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn replicas_come_and_go() {
    let (log, reply) = slow();
    let model = Model::always(reply).await;
    let place = Place::new().unwrap();
    let file = place.write("gateway.toml", PASS).unwrap();
    let mut replicas: Vec<Program> = (0..3).map(|_| Program::start(&file)).collect();
    let addresses: Vec<_> = replicas.iter().map(|replica| replica.address).collect();
    let envoy = Envoy::between(model.address(), &addresses).await;
    for signal in ["KILL", "TERM"] {
        let mut streams = tokio::task::JoinSet::new();
        let ask = |streams: &mut tokio::task::JoinSet<_>| {
            let client = Client::new(envoy.address(), Version::Http1);
            streams.spawn(async move { client.post(CHAT, REQUEST).await });
        };
        (0..30).for_each(|_| ask(&mut streams));
        let until = Instant::now() + Duration::from_secs(20);
        let mut open = Vec::new();
        while open.iter().sum::<u64>() != 30 {
            assert!(Instant::now() < until, "expected 30 open streams, found {open:?}");
            open.clear();
            for replica in &replicas {
                open.push(count(replica, "gateway_streams_open").await);
            }
        }
        let own = open[0];
        assert!(own > 0, "no stream goes through the replica");
        let replica = replicas.first_mut().unwrap();
        replica.signal(signal);
        // While it goes, and Envoy has not seen it yet.
        for _ in 0..20 {
            ask(&mut streams);
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        let answers = streams.join_all().await;
        let (whole, broken): (Vec<_>, Vec<_>) =
            answers.into_iter().partition(|answer| answer.broken.is_none() && answer.status.as_u16() == 200);
        let expected = if signal == "KILL" { own } else { 0 };
        assert_eq!(broken.len() as u64, expected, "{signal}: broken");
        for answer in whole {
            assert_eq!(
                (answer.status.as_u16(), Bytes::from(answer.bytes())),
                (200, log.bytes().clone()),
                "{signal}"
            );
        }
        let mut gone = replicas.remove(0);
        assert_eq!(gone.ended(Duration::from_secs(10)).await, Some(signal == "TERM"));
    }
}

/// Text and a call of a tool.
fn calling(arguments: &str) -> Reply {
    let script = Script::new().text("On it.").call("call_1", "shell", arguments);
    Reply::events(script.to_log(WireKind::OpenAiChat).chunks().collect::<Vec<_>>())
}

/// Attempts are counted over replicas. While Redis is down no call of a session passes; when it is back they do.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy and Redis: tests/envoy/run"]
async fn attempts_are_counted_over_replicas_and_denied_without_redis() {
    let mut redis = Redis::start();
    let place = Place::new().unwrap();
    let config = format!(
        "session = {{ header = \"x-session-id\" }}\n[[policy]]\nkind = \"validate-parameters\"\nbudget = 3\n\
         attempts = {{ redis = \"{}\" }}\ntools = {{ shell = {{ required = [\"command\"] }} }}\n",
        redis.url()
    );
    let file = place.write("gateway.toml", &config).unwrap();
    let replies = [calling("{}"), calling(r#"{"command":"ls"}"#)];
    let model =
        Model::new(move |parts, _| replies[usize::from(parts.headers.contains_key("x-good"))].clone()).await;
    let replicas = [Program::start(&file), Program::start(&file)];
    let envoys = [
        Envoy::between(model.address(), &[replicas[0].address]).await,
        Envoy::between(model.address(), &[replicas[1].address]).await,
    ];
    let ask = |replica: usize, headers: &'static [(&'static str, &'static str)]| {
        let client = Client::new(envoys[replica].address(), Version::Http1);
        async move { client.post_with(CHAT, REQUEST, headers).await.text() }
    };
    const BAD: &[(&str, &str)] = &[("x-session-id", "a")];
    const GOOD: &[(&str, &str)] = &[("x-session-id", "b"), ("x-good", "1")];
    for (replica, is_last) in [(0, false), (1, false), (0, true)] {
        let text = ask(replica, BAD).await;
        assert_eq!(text.contains("content_filter"), is_last, "{text}");
    }
    // Another session has a row of its own, and without a session nothing is counted.
    assert!(!ask(1, &[("x-session-id", "c")]).await.contains("content_filter"));
    assert!(!ask(1, &[]).await.contains("content_filter"));
    assert!(ask(1, GOOD).await.contains("call_1"));

    redis.stop();
    for replica in [0, 1] {
        let start = Instant::now();
        let text = ask(replica, GOOD).await;
        assert!(text.contains("On it.") && !text.contains("call_1"), "{text}");
        assert!(start.elapsed() < Duration::from_secs(5));
        // What needs no count passes.
        assert!(ask(replica, &[("x-good", "1")]).await.contains("call_1"));
    }
    redis.again();
    for replica in [0, 1] {
        let until = Instant::now() + Duration::from_secs(10);
        while !ask(replica, GOOD).await.contains("call_1") {
            assert!(Instant::now() < until, "it does not recover");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

/// A changed file takes over for new exchanges; what is under way goes on as it began; a bad one changes nothing.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn a_changed_file_takes_over_and_a_bad_one_is_refused() {
    let gate =
        |default: &str| format!("[[policy]]\nkind = \"tool-gate\"\nrules = {{ default = \"{default}\" }}\n");
    let log = Script::new().text("On it.").call("call_1", "shell", "{}").to_log(WireKind::OpenAiChat);
    let pieces = Cut::Event.apply(&log);
    let count_of = pieces.len();
    let slow: Vec<_> = pieces
        .iter()
        .enumerate()
        .map(|(place, (_, piece))| {
            (Duration::from_secs(if place + 3 == count_of { 5 } else { 0 }), piece.clone())
        })
        .collect();
    let replies = [Reply::events(log.chunks().collect::<Vec<_>>()), Reply::events(slow)];
    let model =
        Model::new(move |parts, _| replies[usize::from(parts.headers.contains_key("x-slow"))].clone()).await;
    let place = Place::new().unwrap();
    let file = place.write("gateway.toml", &gate("allow")).unwrap();
    let program = Program::start(&file);
    let envoy = Envoy::between(model.address(), &[program.address]).await;
    let client = Client::new(envoy.address(), Version::Http1);
    assert!(client.post(CHAT, REQUEST).await.text().contains("call_1"));
    let begun = tokio::spawn({
        let client = client.clone();
        async move { client.post_with(CHAT, REQUEST, &[("x-slow", "1")]).await }
    });
    tokio::time::sleep(Duration::from_millis(500)).await;
    place.write("gateway.toml", &gate("deny")).unwrap();
    let until = Instant::now() + Duration::from_secs(10);
    while client.post(CHAT, REQUEST).await.text().contains("call_1") {
        assert!(Instant::now() < until, "the changed file does not count");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(!begun.is_finished());
    assert_eq!(Bytes::from(begun.await.unwrap().bytes()), log.bytes());

    place.write("gateway.toml", &gate("perhaps")).unwrap();
    let until = Instant::now() + Duration::from_secs(10);
    while count(&program, "gateway_config_reloads_total{result=\"refused\"}").await == 0 {
        assert!(Instant::now() < until, "the bad file is not refused");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(!client.post(CHAT, REQUEST).await.text().contains("call_1"));
    assert_eq!(count(&program, "gateway_config_behind").await, 1);
    // At a signal the file is read at once.
    place.write("gateway.toml", &gate("allow")).unwrap();
    program.signal("HUP");
    let until = Instant::now() + Duration::from_secs(10);
    while count(&program, "gateway_config_behind").await == 1 {
        assert!(Instant::now() < until, "the good file does not count");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(client.post(CHAT, REQUEST).await.text().contains("call_1"));
}

/// What `--print-config` writes is what Envoy takes, and what requests need.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn a_printed_configuration_works() {
    let text = Script::new().text("Hello.").to_log(WireKind::OpenAiChat);
    let model = Model::always(Reply::events(text.chunks().collect::<Vec<_>>())).await;
    let place = Place::new().unwrap();
    let config = |processors: &str, url: &str| {
        format!(
            "[envoy]\nclients = \"127.0.0.1:0\"\nenvoy_admin = \"127.0.0.1:0\"\nprocessors = [{processors}]\n\
             [upstream.openai-chat]\nurl = \"{url}\"\nkey_env = \"SOME_KEY\"\n\
             [upstream.anthropic-messages]\nurl = \"https://api.example.com:8443/a\"\n\
             [upstream.gemini]\nurl = \"https://gemini.example.com/x\"\n{PASS}"
        )
    };
    let url = format!("http://{}/before", model.address());
    let file = place.write("gateway.toml", &config("\"policies.internal:50051\"", &url)).unwrap();
    let program = Program::start(&file);
    let print = || Program::run(&["envoy", "--config", file.to_str().unwrap(), "--print-config"]).unwrap();
    Envoy::validate(&print()).unwrap();
    place.write("gateway.toml", &config(&format!("\"{}\"", program.address), &url)).unwrap();
    let envoy = Envoy::start(&print()).await;
    let client = Client::new(envoy.address(), Version::Http1);
    let answer = client.post_with("/v1/chat/completions?a=b", REQUEST, &[("authorization", "mine")]).await;
    assert_eq!(Bytes::from(answer.bytes()), text.bytes());
    let asked = &model.asked()[0];
    assert_eq!(asked.path, "/before/v1/chat/completions?a=b");
    assert_eq!(asked.headers["host"], model.address().to_string());
    // The key is in Envoy's environment, and not in its file.
    assert_eq!(asked.headers["authorization"], "Bearer the-key");
    assert!(!print().contains("the-key"));
}
