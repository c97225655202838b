//! Pings: what a keep-alive says beside its type is read by nobody who goes by the type, and by everybody who does not.

use stream_core::{Action, Odd, Passthrough};

use crate::kit::{anthropic, gate, named, responses, run};

/// The payloads of pings that are no more than their type.
const BARE: [&str; 5] = ["", r#","x":null"#, r#","x":"""#, r#","x":[],"y":{}"#, r#","cost":"0.25""#];

/// Payloads that some client may read.
const LOADED: [&str; 8] = [
    r#","text":"SECRET-1234""#,
    r#","delta":{"type":"text_delta","text":"a"}"#,
    r#","content_block":{"type":"tool_use","id":"t","name":"bash","input":{}}"#,
    r#","item":{"type":"function_call","id":"f","call_id":"c","name":"bash","arguments":"{}"}"#,
    r#","x":0"#,
    r#","x":false"#,
    r#","cost":"bash""#,
    r#","cost":{"name":"bash"}"#,
];

/// A ping with something beside its type.
fn ping(kind: &str, more: &str) -> String {
    named(&[&format!(r#"{{"type":"{kind}"{more}}}"#)])
}

/// The streams around a ping, with the types that pings have there.
fn around() -> [(String, &'static [&'static str], String); 2] {
    let tail = anthropic::text(0, "hi") + &anthropic::end("end_turn");
    [
        (anthropic::start(), &["ping"], tail),
        (responses::created(), &["ping", "keepalive"], responses::completed("")),
    ]
}

#[test]
fn a_ping_with_payload_leaves_bare() {
    for (head, kinds, tail) in around() {
        for kind in kinds {
            for payload in LOADED {
                let ran = run(gate, &format!("{head}{}{tail}", ping(kind, payload)));
                assert_eq!(ran.out, format!("{head}{}{tail}", ping(kind, "")), "{payload}");
                assert_eq!(ran.edits, [(Action::Normalised, Odd::Foreign.to_string())], "{payload}");
            }
        }
    }
}

#[test]
fn a_ping_without_payload_leaves_as_it_came() {
    for (head, kinds, tail) in around() {
        for kind in kinds {
            for payload in BARE {
                let body = format!("{head}{}{tail}", ping(kind, payload));
                let ran = run(gate, &body);
                assert_eq!((ran.out, ran.edits), (body, Vec::new()), "{payload}");
            }
        }
    }
}

#[test]
fn a_ping_by_its_event_line_alone_leaves_bare() {
    let [(head, _, tail), _] = around();
    let body = format!("{head}event: ping\ndata: {{\"name\":\"bash\"}}\n\n{tail}");
    let ran = run(gate, &body);
    assert_eq!(ran.out, format!("{head}{}{tail}", ping("ping", "")));
}

#[test]
fn the_number_of_a_keep_alive_stays() {
    let [_, (head, _, tail)] = around();
    let numbered = |more: &str| ping("keepalive", &format!(r#","sequence_number":7{more}"#));
    let body = format!("{head}{}{tail}", numbered(""));
    assert_eq!(run(gate, &body).out, body);
    let loaded = format!("{head}{}{tail}", numbered(r#","name":"bash""#));
    assert_eq!(run(gate, &loaded).out, body);
}

#[test]
fn a_ping_with_payload_passes_where_nobody_looks() {
    for (head, kinds, tail) in around() {
        for kind in kinds {
            for payload in LOADED {
                let body = format!("{head}{}{tail}", ping(kind, payload));
                assert_eq!(run(|| Passthrough, &body).out, body);
            }
        }
    }
}
