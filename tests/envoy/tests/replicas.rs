//! Several replicas of `gateway envoy`, with the real Envoy and the real Redis.
#![allow(clippy::panic, clippy::unwrap_used)]

use std::time::{Duration, Instant};

use bytes::Bytes;
use envoy_suite::{Answer, Client, Envoy, Gate, Model, Place, Program, Redis, Reply, Version};
use stream_testkit::{Cut, Script, WireKind};

const CHAT: &str = "/v1/chat/completions";
const REQUEST: &str = r#"{"model":"some-model","stream":true,"messages":[]}"#;
const PASS: &str = "[[policy]]\nkind = \"passthrough\"\n";

/// An answer of which the first event comes at once, and the others when the gate is open.
fn held(gate: &Gate) -> (Bytes, Bytes, Reply) {
    let log = Script::new().text("It takes a while.").to_log(WireKind::OpenAiChat);
    let pieces = Cut::Event.apply(&log);
    (pieces[0].1.clone(), log.bytes().clone(), Reply::events(pieces).held(1, gate))
}

/// A number of the metrics of a program.
async fn count(program: &Program, name: &str) -> u64 {
    let page = Client::new(program.admin, Version::Http1).get("/metrics").await.text();
    let line = page.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{name} is not in {page}"))
}

/// Replicas behind an Envoy, and the streams that go through them.
struct Replicas {
    programs: Vec<Program>,
    /// How many streams each has open.
    open: Vec<u64>,
    envoy: Envoy,
    _place: Place,
}

/// A stream under way.
struct Stream {
    /// The replica that it goes through.
    replica: usize,
    answer: tokio::task::JoinHandle<Answer>,
}

impl Replicas {
    async fn start(count: usize, config: &str, model: &Model) -> Self {
        let place = Place::new().unwrap();
        let file = place.write("gateway.toml", config).unwrap();
        let programs: Vec<Program> = (0..count).map(|_| Program::start(&file)).collect();
        let addresses: Vec<_> = programs.iter().map(|program| program.address).collect();
        let envoy = Envoy::between(model.address(), &addresses).await;
        Self { open: vec![0; count], programs, envoy, _place: place }
    }

    /// Begins a stream; when its head has come, exactly one of these replicas has one more open.
    async fn begin(&mut self, among: &[usize]) -> Stream {
        let answer = self.ask().await;
        let until = Instant::now() + Duration::from_secs(10);
        loop {
            let mut more = Vec::new();
            for &replica in among {
                let open = count(&self.programs[replica], "gateway_streams_open").await;
                more.extend((open != self.open[replica]).then_some((replica, open)));
            }
            if let [(replica, open)] = more[..] {
                assert_eq!(open, self.open[replica] + 1);
                self.open[replica] = open;
                return Stream { replica, answer };
            }
            assert!(Instant::now() < until, "expected one replica with one more stream, found {more:?}");
        }
    }

    /// Begins a stream, and reads it beside what follows.
    async fn ask(&self) -> tokio::task::JoinHandle<Answer> {
        let client = Client::new(self.envoy.address(), Version::Http1);
        let response = client.begin(CHAT, REQUEST).await.unwrap();
        assert_eq!(response.status(), 200);
        tokio::spawn(async move {
            let answer = Answer::read(response, Instant::now()).await;
            drop(client);
            answer
        })
    }
}

impl Stream {
    async fn end(self) -> Answer {
        tokio::time::timeout(Duration::from_secs(20), self.answer).await.expect("an end").unwrap()
    }
}

/// What came of an answer, and whether it broke off.
fn arrived(answer: &Answer) -> (Bytes, bool) {
    (Bytes::from(answer.bytes()), answer.broken.is_some())
}

/// A replica that is killed breaks exactly its own streams, of which nothing more arrives. All others go on to their ends, and
/// every request that begins when the streams have broken succeeds.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn a_killed_replica_breaks_exactly_its_own_streams() {
    let gate = Gate::new();
    let (first, whole, reply) = held(&gate);
    let model = Model::always(reply).await;
    let mut replicas = Replicas::start(3, PASS, &model).await;
    let mut streams = Vec::new();
    for _ in 0..30 {
        streams.push(replicas.begin(&[0, 1, 2]).await);
    }
    assert_eq!((replicas.open.iter().sum::<u64>(), replicas.open.contains(&0)), (30, false));
    replicas.programs[0].signal("KILL");
    assert_eq!(replicas.programs[0].ended(Duration::from_secs(10)).await, Some(false));
    let (own, mut others): (Vec<_>, Vec<_>) = streams.into_iter().partition(|stream| stream.replica == 0);
    for stream in own {
        assert_eq!(arrived(&stream.end().await), (first.clone(), true));
    }
    // Envoy knows of it now: no request is under way to the replica.
    for _ in 0..20 {
        others.push(replicas.begin(&[1, 2]).await);
    }
    assert_eq!(others.iter().filter(|stream| stream.answer.is_finished()).count(), 0);
    gate.open();
    for stream in others {
        assert_eq!(arrived(&stream.end().await), (whole.clone(), false));
    }
}

/// A replica that is asked to stop finishes its streams, and ends with success. New requests succeed from the signal on, and go
/// elsewhere as soon as Envoy knows.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn a_replica_that_is_asked_to_stop_finishes_its_streams() {
    let gate = Gate::new();
    let (_, whole, reply) = held(&gate);
    let model = Model::always(reply).await;
    let mut replicas = Replicas::start(2, PASS, &model).await;
    let mut answers = Vec::new();
    for _ in 0..20 {
        answers.push(replicas.begin(&[0, 1]).await.answer);
    }
    assert!(!replicas.open.contains(&0));
    replicas.programs[0].signal("TERM");
    // While it goes, and Envoy may not have seen it.
    for _ in 0..20 {
        answers.push(replicas.ask().await);
    }
    let until = Instant::now() + Duration::from_secs(10);
    while replicas.envoy.stat("cluster.policies.upstream_cx_close_notify").await == 0 {
        assert!(Instant::now() < until, "Envoy is not told");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let stays = count(&replicas.programs[0], "gateway_streams_open").await;
    replicas.open[1] = count(&replicas.programs[1], "gateway_streams_open").await;
    assert_eq!(stays + replicas.open[1], 40);
    for _ in 0..20 {
        answers.push(replicas.begin(&[1]).await.answer);
    }
    assert_eq!(count(&replicas.programs[0], "gateway_streams_open").await, stays);
    assert_eq!(replicas.programs[0].ended(Duration::from_secs(1)).await, None);
    gate.open();
    for answer in answers {
        assert_eq!(arrived(&answer.await.unwrap()), (whole.clone(), false));
    }
    assert_eq!(replicas.programs[0].ended(Duration::from_secs(10)).await, Some(true));
}

/// What is not finished within the limit of a replica that stops is broken off, and nothing more of it arrives; the replica ends
/// with success, in time.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Envoy: tests/envoy/run"]
async fn what_a_stopping_replica_does_not_finish_in_time_is_broken_off() {
    let gate = Gate::new();
    let (first, _, reply) = held(&gate);
    let model = Model::always(reply).await;
    let mut replicas = Replicas::start(1, &format!("[envoy]\ndrain = \"2s\"\n{PASS}"), &model).await;
    let mut streams = Vec::new();
    for _ in 0..5 {
        streams.push(replicas.begin(&[0]).await);
    }
    let start = Instant::now();
    replicas.programs[0].signal("TERM");
    for stream in streams {
        assert_eq!(arrived(&stream.end().await), (first.clone(), true));
    }
    assert!(start.elapsed() >= Duration::from_secs(2), "{:?}", start.elapsed());
    assert_eq!(replicas.programs[0].ended(Duration::from_secs(5)).await, Some(true));
    assert!(start.elapsed() < Duration::from_secs(8), "{:?}", start.elapsed());
    // Each ended in an error status: none of them was passed on without the policies.
    assert_eq!(replicas.envoy.stat("http.clients.ext_proc.streams_failed").await, 5);
    let until = Instant::now() + Duration::from_secs(10);
    while model.cancelled() < 5 {
        assert!(Instant::now() < until, "the upstream is not left");
        tokio::time::sleep(Duration::from_millis(20)).await;
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
