//! The policies, and the logs they are tried on.

use std::collections::BTreeSet;
use std::sync::Arc;

use stream_core::Verdict;
use stream_policies::{CompletedCall, Pattern, Preset, Redact, RedactSettings, ToolGate};
use stream_testkit::laws::{Law, Laws};
use stream_testkit::{ChunkLog, Fragments, Script, WireKind};

/// A gate that denies these calls.
pub(crate) fn gate(denied: &[&str]) -> ToolGate {
    let denied: Arc<BTreeSet<String>> = Arc::new(denied.iter().map(|name| (*name).to_owned()).collect());
    ToolGate::new(move |call: CompletedCall| {
        let allowed = !denied.contains(call.name());
        async move { Ok(if allowed { Verdict::Release } else { Verdict::drop("not allowed") }) }
    })
}

/// A redactor of keys and of `SECRET-` with four digits.
pub(crate) fn redactor() -> Redact {
    RedactSettings::default()
        .preset(Preset::ApiKey)
        .pattern(Pattern::regex("s", "SECRET-[0-9]{4}"))
        .build()
        .unwrap()
}

/// The law under each policy, for a client that asked for one answer.
pub(crate) fn policies() -> [(&'static str, Laws); 3] {
    let redactor = redactor();
    [
        ("gate", Laws::of(|| gate(&["rm"]))),
        ("gate without ls", Laws::of(|| gate(&["rm", "ls"]))),
        ("redactor", Laws::of(move || redactor.clone()).strings()),
    ]
    .map(|(name, laws)| (name, laws.only(Law::Agreement).one_choice()))
}

/// Plain streams with texts, thoughts and calls, in all formats.
pub(crate) fn scripted() -> Vec<ChunkLog> {
    let fine = Fragments::Chars(6);
    let scripts = [
        Script::new().text("Let me look at it.").text_fragments(fine),
        Script::new().reasoning("Hm, so it is.").text("Let me look.").text_fragments(fine),
        Script::new().call("call_1", "ls", r#"{"path":"."}"#),
        Script::new()
            .text("Two things.")
            .call("call_1", "ls", r#"{"path":"/home/user"}"#)
            .call("call_2", "note", r#"{"text":"remember this"}"#)
            .argument_fragments(fine),
        Script::new()
            .call("call_1", "shell", r#"{"command":"ls -l"}"#)
            .call("call_2", "note", "{}")
            .call("call_3", "ls", ""),
    ];
    let mut logs = Vec::new();
    for (number, script) in scripts.iter().enumerate() {
        for kind in WireKind::ALL {
            let log = script.to_log(kind);
            logs.push(ChunkLog::from_chunks(format!("script {number}, {kind}"), log.chunks()));
        }
    }
    logs
}
