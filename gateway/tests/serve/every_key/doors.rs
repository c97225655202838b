//! Listeners, clients, connections, and what is written down.

use std::time::Duration;

use http_body_util::BodyExt as _;
use stream_testkit::WireKind;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::row::{PASS, Row, See, World, ask, ask_with};
use crate::connections::connect;
use crate::doors::sha256;
use crate::kit::{Gateway, client, question};

const GATE: &str = "[[policy]]\nkind = \"tool-gate\"\nrules = { default = \"allow\" }\n";

pub(super) fn rows() -> Vec<Row> {
    [listeners(), clients(), tls(), connections(), written()].into_iter().flatten().collect()
}

fn passing(keys: &str) -> String {
    format!("{keys}\n{PASS}")
}

fn listeners() -> Vec<Row> {
    let up = "[upstream.openai-chat]\nurl = \"$UP\"\nkey_env = \"KEY_A\"\n";
    vec![
        Row::new("listen", &passing("listen = @"), ["\"127.0.0.2:0\"", "\"127.0.0.1:0\""], |world| {
            Box::pin(async move { world.started().contains("http://127.0.0.2:").to_string() })
        }),
        Row::new(
            "admin",
            &passing("listen = \"127.0.0.1:0\"\n@"),
            ["admin = \"127.0.0.1:0\"", ""],
            |world| Box::pin(async move { world.started().contains("admin side: ").to_string() }),
        ),
        Row::new(
            "open",
            &passing(&format!("listen = \"0.0.0.0:0\"\n@\n{up}")),
            ["open = true", ""],
            |world| Box::pin(async move { world.started().starts_with("gateway: serving on").to_string() }),
        ),
        Row::new("live_content", &format!("@\n{GATE}"), ["live_content = true", ""], |world| {
            Box::pin(async move {
                let gateway = world.gateway();
                ask(&gateway, "demo").await;
                let uri = format!("{}/live/events", gateway.admin).parse().unwrap();
                let mut events = client().get(uri).await.unwrap().into_body();
                let mut told = Vec::new();
                while let Ok(Some(frame)) =
                    tokio::time::timeout(Duration::from_millis(700), events.frame()).await
                {
                    told.extend_from_slice(&frame.unwrap().into_data().unwrap());
                }
                let told = String::from_utf8(told).unwrap();
                assert!(told.contains("openai-chat"), "{told}");
                told.contains("rm -rf").to_string()
            })
        }),
    ]
}

/// Asks with a key, and without a key that the upstream knows.
async fn with_key(gateway: &Gateway, key: &str, model: &str) -> String {
    let (path, body) = question(WireKind::OpenAiChat, true);
    let request = http::Request::post(gateway.url(path)).header("x-api-key", key);
    let body = http_body_util::Full::from(body.replace("demo", model));
    super::row::seen(&crate::doors::answer(request.body(body).unwrap()).await)
}

fn clients() -> Vec<Row> {
    let client =
        |keys: &str| passing(&format!("[[client]]\n{keys}\n[upstream.openai-chat]\nurl = \"$UP\"\n"));
    let asked: See = |world| Box::pin(async move { with_key(&world.gateway(), "key-a", "demo").await });
    let digests = ["key-a", "key-b"].map(|key| format!("\"{}\"", sha256(key)));
    let twice: See = |world| {
        Box::pin(async move {
            let gateway = world.gateway();
            with_key(&gateway, "key-a", "demo").await + &with_key(&gateway, "key-a", "demo").await
        })
    };
    let at_once: See = |world| {
        Box::pin(async move {
            let gateway = world.gateway();
            let second = async {
                tokio::time::sleep(Duration::from_millis(300)).await;
                with_key(&gateway, "key-a", "late").await
            };
            let (first, second) = tokio::join!(with_key(&gateway, "key-a", "late"), second);
            first + &second
        })
    };
    let known = "name = \"a\"\nkey_env = \"KEY_A\"\n@";
    vec![
        Row::new(
            "client[].name",
            &format!("request_log = \"log\"\n{}", client("name = @\nkey_env = \"KEY_A\"")),
            ["\"one\"", "\"other\""],
            |world| Box::pin(async move { logged(&world).await.contains("\"other\"").to_string() }),
        ),
        Row::new(
            "client[].key_sha256",
            &client("name = \"a\"\nkey_sha256 = @"),
            [&digests[0], &digests[1]],
            asked,
        ),
        Row::new("client[].key_env", &client("name = \"a\"\nkey_env = @"), ["\"KEY_A\"", "\"KEY_B\""], asked),
        Row::new("client[].requests_per_minute", &client(known), ["requests_per_minute = 1", ""], twice),
        Row::new("client[].request_bytes", &client(known), ["request_bytes = 10", ""], asked),
        Row::new("client[].streams", &client(known), ["streams = 1", ""], at_once),
    ]
}

/// Asks with the key of a client; what the log of requests says then.
async fn logged(world: &World) -> String {
    let gateway = world.gateway();
    with_key(&gateway, "key-a", "demo").await;
    gateway.terminate();
    tokio::task::spawn_blocking(move || gateway.wait()).await.unwrap();
    std::fs::read_to_string(world.directory.0.join("log")).unwrap_or_default()
}

fn tls() -> Vec<Row> {
    let tls = |keys: &str| passing(&format!("listen = \"127.0.0.1:0\"\n[tls]\n{keys}\n"));
    let said: See =
        |world| Box::pin(async move { world.started().starts_with("gateway: serving on").to_string() });
    let shakes: See = |world| {
        Box::pin(async move {
            let gateway = world.gateway();
            let address = gateway.base.strip_prefix("https://").unwrap().to_owned();
            let stream = TcpStream::connect(address).await.unwrap();
            let authority = std::fs::read(world.directory.0.join("ca.pem")).unwrap();
            crate::tls::shake(&authority, stream).await
        })
    };
    vec![
        Row::new(
            "tls.certificate",
            &tls("key = \"key.pem\"\ncertificate = @"),
            ["\"cert.pem\"", "\"key.pem\""],
            said,
        ),
        Row::new(
            "tls.key",
            &tls("certificate = \"cert.pem\"\nkey = @"),
            ["\"key.pem\"", "\"cert.pem\""],
            said,
        ),
        Row::new(
            "tls.client_ca",
            &tls("certificate = \"cert.pem\"\nkey = \"key.pem\"\n@"),
            ["client_ca = \"ca.pem\"", ""],
            shakes,
        ),
    ]
}

/// What is said to a client that sends this, and whether its connection is closed within a second.
async fn told(world: World, sent: &str) -> String {
    let gateway = world.gateway();
    let mut client = connect(&gateway).await;
    client.write_all(sent.as_bytes()).await.unwrap();
    let mut said = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(1), client.read_to_end(&mut said)).await;
    let line = String::from_utf8_lossy(&said).lines().next().unwrap_or_default().to_owned();
    format!("{line} {}", read.is_ok())
}

fn connections() -> Vec<Row> {
    let row = |key, value: &str, see: See| Row::new(key, &passing("[connections]\n@"), [value, ""], see);
    vec![
        row("connections.head", "head = \"200ms\"", |world| Box::pin(told(world, "POST / HTTP/1.1\r\nx: "))),
        row("connections.body", "body = \"200ms\"", |world| {
            Box::pin(told(world, "POST /v1/messages HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n{"))
        }),
        row("connections.idle", "idle = \"200ms\"", |world| {
            Box::pin(told(world, "GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n"))
        }),
        row("connections.most", "most = 1", |world| {
            Box::pin(async move {
                let gateway = world.gateway();
                let _first = connect(&gateway).await;
                let mut second = connect(&gateway).await;
                second.write_all(b"GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n").await.unwrap();
                let mut byte = [0];
                let read = tokio::time::timeout(Duration::from_millis(700), second.read(&mut byte)).await;
                read.is_ok().to_string()
            })
        }),
        Row::new(
            "connections.stalled",
            &passing("[connections]\n@\n[upstream.openai-chat]\nurl = \"$UP\""),
            ["stalled = \"300ms\"", ""],
            |world| {
                Box::pin(async move {
                    let gateway = world.gateway();
                    let (files, _) = gateway.resources();
                    let mut client = connect(&gateway).await;
                    let body = r#"{"model":"vast","stream":true}"#;
                    let head = format!(
                        "POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ncontent-length: {}\r\n\r\n{body}",
                        body.len()
                    );
                    client.write_all(head.as_bytes()).await.unwrap();
                    tokio::time::sleep(Duration::from_secs(3)).await;
                    (gateway.resources().0 > files).to_string()
                })
            },
        ),
    ]
}

/// How many files are in the directory of the records.
fn records(world: &World) -> usize {
    std::fs::read_dir(world.directory.0.join("logs")).map(Iterator::count).unwrap_or_default()
}

fn written() -> Vec<Row> {
    let clients =
        "[[client]]\nname = \"a\"\nkey_env = \"KEY_A\"\n[[client]]\nname = \"b\"\nkey_env = \"KEY_B\"";
    vec![
        Row::new("record", &passing("@"), ["record = \"logs\"", ""], |world| {
            Box::pin(async move {
                let gateway = world.gateway();
                ask_with(&gateway, "demo", &[]).await;
                gateway.terminate();
                tokio::task::spawn_blocking(move || gateway.wait()).await.unwrap();
                records(&world).to_string()
            })
        }),
        Row::new(
            "record_clients",
            &passing(&format!("record = \"logs\"\nrecord_clients = [@]\n{clients}")),
            ["\"a\"", "\"b\""],
            |world| {
                Box::pin(async move {
                    logged(&world).await;
                    records(&world).to_string()
                })
            },
        ),
        Row::new("request_log", &passing(&format!("@\n{clients}")), ["request_log = \"log\"", ""], |world| {
            Box::pin(async move { logged(&world).await.is_empty().to_string() })
        }),
    ]
}
