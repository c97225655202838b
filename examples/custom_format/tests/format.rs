//! The format with policies that know nothing of it: read, folded, policed, written, refused, cut anywhere, whole.

use std::sync::Arc;
use std::time::Duration;

use custom_format::House;
use stream_core::{
    Assembler, Chain, Config, Ending, Passthrough, StreamBlock, Verdict, each_call, policy_fn,
};
use stream_policies::judge::rules::{Otherwise, Rule, RulesSettings};
use stream_policies::{Preset, RedactSettings, ToolGate};
use stream_testkit::laws::{Law, Laws, Tally};
use stream_testkit::{ChunkLog, Cut, Replay};

const STREAM: &str = concat!(
    "{\"think\":\"Ask jane@\"}\n",
    "{\"think\":\"example.com.\"}\n",
    "{\"text\":\"On it: jane@exam\"}\n",
    "\n",
    "{ \"text\" : \"ple.com knows.\" }\r\n",
    "{\"call\":{\"id\":\"call_1\",\"name\":\"rm\",\"args\":{\"path\":\"/\"}}}\n",
    "{\"call\":{\"id\":\"call_2\",\"name\":\"ls\",\"args\":{ \"path\": \"/\" }}}\n",
    "{\"done\":{\"reason\":\"calls\",\"tokens\":12}}\n",
);

const CALL: &str = concat!(
    "{\"call\":{\"id\":\"call_1\",\"name\":\"rm\",\"args\":{}}}\n",
    "{\"done\":{\"reason\":\"calls\",\"tokens\":12}}\n",
);

const WHOLE: &str = r#"{"answer": [{"text":"Ask jane@example.com."}, {"call":{"id":"call_1","name":"rm","args":{}}},
 {"call":{"id":"call_2","name":"ls","args":{}}}, {"done":{"reason":"calls"}}]}"#;

fn config() -> Config {
    Config::default().format(Arc::new(House))
}

fn streamed(stream: &str) -> ChunkLog {
    ChunkLog::from_chunks("house", [(Duration::ZERO, stream.to_owned().into())])
}

fn whole(body: &str) -> ChunkLog {
    ChunkLog::from_whole("house", body.to_owned())
}

/// A gate that lets `ls` through, and a redactor of addresses.
fn guarded() -> Chain {
    let rules = RulesSettings::otherwise(Otherwise::Deny).allow(Rule::tools(["ls"])).build().expect("rules");
    let redact = RedactSettings::default().preset(Preset::Email).build().expect("settings");
    Chain::new().then(ToolGate::new(rules)).then(redact)
}

fn run<P: Into<Chain>>(log: &ChunkLog, cut: Cut, policy: impl Fn() -> P + Send + Sync + 'static) -> String {
    let replayed = Replay::new(log).config(config()).cut(cut).policy(policy).run();
    String::from_utf8(replayed.bytes().to_vec()).expect("text")
}

#[test]
fn a_stream_is_folded_into_blocks() {
    let mut client = Assembler::with(config());
    client.push(STREAM.as_bytes()).expect("a stream");
    client.finish().expect("a whole stream");
    let blocks: Vec<String> = client
        .state()
        .blocks()
        .iter()
        .map(|block| match block {
            StreamBlock::ToolCall(call) => format!("{} {}", call.name(), call.arguments()),
            block => block.as_text().map(|text| text.text().to_owned()).unwrap_or_default(),
        })
        .collect();
    let expected = [
        "Ask jane@example.com.",
        "On it: jane@example.com knows.",
        r#"rm {"path":"/"}"#,
        r#"ls { "path": "/" }"#,
    ];
    assert_eq!(blocks, expected);
    assert_eq!(client.state().usage().and_then(|usage| usage.output), Some(12));
}

#[test]
fn what_nobody_touches_leaves_byte_for_byte_in_every_cut() {
    for cut in [Cut::Whole, Cut::Byte, Cut::Random { seed: 1 }] {
        assert_eq!(run(&streamed(STREAM), cut, || Passthrough), STREAM);
        assert_eq!(run(&streamed(STREAM), cut, || each_call(|_, _| Verdict::Release)), STREAM);
    }
    assert_eq!(run(&whole(WHOLE), Cut::Whole, || each_call(|_, _| Verdict::Release)), WHOLE);
}

#[test]
fn a_gate_and_a_redactor_work_on_it_in_every_cut() {
    let expected = concat!(
        "{\"think\":\"Ask [redacted]\"}\n",
        "{\"think\":\".\"}\n",
        "{\"text\":\"On it: [redacted]\"}\n",
        "\n",
        "{\"text\":\" knows.\"}\n",
        "{\"call\":{\"id\":\"call_2\",\"name\":\"ls\",\"args\":{ \"path\": \"/\" }}}\n",
        "{\"done\":{\"reason\":\"calls\",\"tokens\":12}}\n",
    );
    for cut in [Cut::Whole, Cut::Byte, Cut::Random { seed: 1 }] {
        assert_eq!(run(&streamed(STREAM), cut, guarded), expected);
    }
}

#[test]
fn a_whole_answer_is_policed_as_a_stream_is() {
    assert_eq!(
        run(&whole(WHOLE), Cut::Whole, guarded),
        r#"{"answer":[{"text":"Ask [redacted]."},{"call":{"id":"call_2","name":"ls","args":{}}},{"done":{"reason":"calls"}}]}"#
    );
}

#[test]
fn without_its_calls_an_answer_has_another_reason_and_is_not_empty() {
    let none = || each_call(|_, _| Verdict::drop("no calls"));
    let left = "{\"text\":\"[withheld by policy]\"}\n{\"done\":{\"reason\":\"stop\",\"tokens\":12}}\n";
    assert_eq!(run(&streamed(CALL), Cut::Byte, none), left);
}

#[test]
fn an_answer_that_is_refused_or_fails_says_so() {
    let refuse = || {
        policy_fn(|_, _, ctx| {
            ctx.terminate(Ending::refuse("I cannot help with that."));
            Ok(())
        })
    };
    let error = || {
        policy_fn(|_, _, ctx| {
            ctx.terminate(Ending::error("stopped"));
            Ok(())
        })
    };
    let refused = "{\"done\":{\"reason\":\"refused\",\"message\":\"I cannot help with that.\"}}";
    let failed = "{\"error\":{\"code\":\"blocked_by_policy\",\"message\":\"stopped\"}}";
    assert_eq!(run(&streamed(CALL), Cut::Byte, refuse), format!("{refused}\n"));
    assert_eq!(run(&streamed(CALL), Cut::Byte, error), format!("{failed}\n"));
    assert_eq!(run(&whole(WHOLE), Cut::Whole, refuse), format!("{{\"answer\":[{refused}]}}"));
    assert_eq!(run(&whole(WHOLE), Cut::Whole, error), failed);
}

#[test]
fn a_line_that_cannot_be_read_closes_the_stream_where_somebody_looks() {
    let odd = "{\"text\":\"a\"}\n{\"text\":\"b\",\"call\":{}}\n{\"done\":{\"reason\":\"stop\"}}\n";
    let closed = "{\"text\":\"a\"}\n{\"error\":{\"code\":\"internal\",\"message\":\"the upstream's answer could not be read\"}}\n";
    assert_eq!(run(&streamed(odd), Cut::Byte, guarded), closed);
}

#[test]
fn a_stream_that_breaks_off_ends_with_an_error_on_a_line_of_its_own() {
    let replayed = Replay::new(streamed(STREAM))
        .config(config())
        .policy(|| Passthrough)
        .transport_error_after("{\"think\":\"Ask jane@\"}".len())
        .run();
    assert_eq!(
        replayed.bytes(),
        "{\"think\":\"Ask jane@\"}\n{\"error\":{\"code\":\"internal\",\"message\":\"the upstream broke off\"}}\n"
    );
}

/// Strings that no block shows are searched, too.
#[test]
fn an_address_in_an_id_is_taken_out() {
    let line = "{\"call\":{\"id\":\"jane@example.com\",\"name\":\"ls\",\"args\":{}}}\n{\"done\":{\"reason\":\"calls\"}}\n";
    assert_eq!(run(&streamed(line), Cut::Byte, guarded), line.replace("jane@example.com", "[redacted]"));
}

#[test]
fn the_laws_that_need_no_client_of_the_format_hold() {
    let laws = [Law::Identity, Law::Rechunking, Law::Bound, Law::Drop, Law::PanicFree];
    let without_rm =
        STREAM.replace("{\"call\":{\"id\":\"call_1\",\"name\":\"rm\",\"args\":{\"path\":\"/\"}}}\n", "");
    assert_ne!(without_rm, STREAM);
    for law in laws {
        let gate = || {
            each_call(|call, _| match call.name() {
                "rm" => Verdict::drop("no"),
                _ => Verdict::Release,
            })
        };
        let mut tally = Tally::default();
        for stream in [STREAM, &without_rm] {
            tally.add(&Laws::of(gate).config(config()).only(law).check(&streamed(stream)).unwrap());
        }
        tally.assert_held_but(&[]);
    }
}
