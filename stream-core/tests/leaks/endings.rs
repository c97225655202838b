//! Leak 9: a refusal that closes a half call makes clients run it.

use stream_core::{Ending, policy_fn};
use stream_testkit::conformance::{Ended, check};
use stream_testkit::{Fragments, Script, WireKind};

use crate::each_format;
use crate::kit::out;

#[test]
fn a_refusal_in_mid_call_is_an_error_event() {
    let mid_call = || {
        policy_fn(|chunk, _, ctx| {
            if chunk.arguments().is_some_and(|arguments| arguments.contains("rm_all")) {
                ctx.terminate(Ending::refuse("no"));
            } else {
                ctx.send(chunk);
            }
            Ok(())
        })
    };
    let script = Script::new().argument_fragments(Fragments::Chars(9)).text("Let me look.").call(
        "call_1",
        "look",
        r#"{"path":"rm_all"}"#,
    );
    each_format(&script, |kind, body| {
        let left = out(body, mid_call());
        crate::assert_caged(kind, &left);
        let report = check(WireKind::detect(body.as_bytes()).unwrap(), left.as_bytes());
        // Gemini's calls come whole: none of it has left, and a refusal is right.
        let ended = if left.contains("call_1") { Ended::Error } else { Ended::Refused };
        assert_eq!(report.view().ended, ended, "{kind}\n{left}");
    });
}
