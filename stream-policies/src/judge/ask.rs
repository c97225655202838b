//! The question as the gates ask it: what no judge should have to think of is settled here.

use stream_core::text_calls::UNPARSED;
use stream_core::{CallFlavor, PolicyError, Verdict};

use super::arguments::is_object;
use super::{CompletedCall, Judge};

/// Asks a judge, unless the answer is known; what it answers can be carried out.
pub(crate) async fn ask(judge: &dyn Judge, call: CompletedCall) -> Result<Verdict, PolicyError> {
    if call.is_unopened() {
        return Ok(Verdict::drop("its opening was not in the stream"));
    }
    if call.is_opaque() && call.name() == UNPARSED {
        return Ok(Verdict::drop(match call.problem() {
            Some(problem) => format!("it is no whole call: {problem}"),
            None => "it is no whole call".to_owned(),
        }));
    }
    if call.name().trim().is_empty() {
        return Ok(Verdict::drop("it has no name"));
    }
    let verdict = judge.judge(call.clone()).await?;
    Ok(match verdict {
        Verdict::Replace(_) if call.is_opaque() => Verdict::drop("nothing can stand in its place"),
        // Every format takes an object, and some take nothing else.
        Verdict::Replace(with)
            if call.flavor() != CallFlavor::Custom
                && with.new_arguments().is_some_and(|new| !is_object(new)) =>
        {
            Verdict::drop("what was to stand in its place is no JSON object")
        }
        verdict => verdict,
    })
}
