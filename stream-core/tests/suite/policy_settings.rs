//! What a policy says of itself before the stream starts: what it looks at for a request, and how long it may take.

use std::future::pending;
use std::time::Duration;

use stream_core::{
    Action, Attention, Chunk, Config, Context, Decide, ErrorKind, Limits, Needs, Policy, PolicyError,
    Request, Stage, StreamState, SyncPolicy, Verdict, async_trait,
};
use stream_testkit::{Fragments, Replay, Script, WireKind};

/// Drops all content, but only for the model `small`.
struct SilentSmall;

impl SyncPolicy for SilentSmall {
    fn needs(&self, request: &Request) -> Needs {
        let small = request.model_name() == Some("small");
        Needs::nothing().content(if small { Attention::Completed } else { Attention::Nothing })
    }

    fn on_chunk(&mut self, _: Chunk, state: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        if let Some(block) = state.just_completed() {
            ctx.settle(block.key(), Verdict::drop("discarded"))?;
        }
        Ok(())
    }
}

#[test]
fn a_policy_looks_at_nothing_of_a_request_it_has_nothing_to_say_of() {
    for kind in WireKind::ALL {
        let log = Script::new().text("Hello.").to_log(kind);
        let run = |model: &str| {
            let config = Config::default().request(Request::new().model(model)).empty_notice(None);
            Replay::new(&log).config(config).policy(|| SilentSmall).run()
        };
        assert_eq!(run("large").bytes(), log.bytes(), "{kind}");
        assert_eq!(run("large").decisions, [], "{kind}");
        assert_eq!(run("small").view().choices[0].content, "", "{kind}");
    }
}

/// Never comes back: in its hook, or in its decision.
struct Slow {
    in_hook: bool,
    within: Option<Duration>,
}

/// Has 200 ms.
fn slow(in_hook: bool, within: Option<Duration>) -> Stage {
    Stage::new(Slow { in_hook, within }).within(Duration::from_millis(200))
}

#[async_trait]
impl Policy for Slow {
    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        _: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        if self.in_hook {
            return pending().await;
        }
        let payload = chunk.block().filter(|_| chunk.is_payload());
        match (payload, self.within) {
            (Some(key), Some(within)) => ctx.decide(key, Decide::by(pending()).within(within))?,
            (Some(key), None) => ctx.decide(key, pending())?,
            (None, _) => {}
        }
        Ok(())
    }
}

#[test]
fn a_hook_has_the_time_that_its_policy_gives_it() {
    let log = Script::new().text("Hello.").to_log(WireKind::OpenAiChat);
    let replayed = Replay::new(&log).policy(|| slow(true, None)).run();
    let error = replayed.outcome.unwrap().error.unwrap();
    assert_eq!(error.kind(), ErrorKind::PolicyTimedOut);
    assert_eq!(error.to_string(), "policy: expected Slow to return, found none after 200ms");
}

#[test]
fn the_limit_of_the_stream_holds_where_it_is_tighter() {
    let log = Script::new().text("Hello.").to_log(WireKind::OpenAiChat);
    let config = Config::default().limits(Limits::default().policy(Duration::from_millis(50)));
    let replayed = Replay::new(&log).config(config).policy(|| slow(true, None)).run();
    let error = replayed.outcome.unwrap().error.unwrap();
    assert_eq!(error.to_string(), "policy: expected Slow to return, found none after 50ms");
}

#[test]
fn a_decision_has_at_most_the_time_that_its_policy_gives_it() {
    let log = Script::new().text("Hello.").to_log(WireKind::OpenAiChat);
    for (within, held) in
        [(None, 200), (Some(Duration::from_secs(9)), 200), (Some(Duration::from_millis(30)), 30)]
    {
        let replayed = Replay::new(&log).policy(move || slow(false, within)).run();
        let dropped = &replayed.decisions[0];
        assert_eq!(
            (dropped.action, dropped.held),
            (Action::Dropped, Duration::from_millis(held)),
            "{within:?}"
        );
        assert_eq!(dropped.reason.as_deref(), Some("the judge took too long"));
    }
}

/// Keeps the first chunk, and sends it when the next one comes.
#[derive(Default)]
struct Hoarder(Option<Chunk>);

impl SyncPolicy for Hoarder {
    fn on_chunk(&mut self, chunk: Chunk, _: &StreamState, ctx: &mut Context<'_>) -> Result<(), PolicyError> {
        if chunk.is_payload() {
            let kept = self.0.replace(chunk);
            kept.into_iter().for_each(|chunk| ctx.send(chunk));
        }
        Ok(())
    }
}

/// Rule 10: a chunk is sendable only in its own hook. The error says what to do instead.
#[test]
fn a_stored_chunk_that_is_sent_later_gets_an_error_that_names_buffer_and_flush() {
    for kind in WireKind::ALL {
        let log = Script::new().text_fragments(Fragments::Chars(2)).text("Hello.").to_log(kind);
        let replayed = Replay::new(&log).policy(Hoarder::default).run();
        let error = replayed.outcome.unwrap().error.unwrap();
        assert_eq!(
            error.to_string(),
            "policy: expected Hoarder to return, found an error: expected a chunk of this step, found one that was \
             stored in an earlier step: hold it there with `buffer`, and let it go later with `flush` or `settle`",
            "{kind}"
        );
    }
}
