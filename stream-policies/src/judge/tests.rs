use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::FutureExt as _;
use stream_core::{Ending, Replacement, Verdict};
use tokio::time::{Instant, sleep};

use super::rules::{Otherwise, Rule, RulesSettings};
use super::*;

fn call() -> CompletedCall {
    CompletedCall::new("shell", r#"{"command":"ls"}"#)
}

fn after(
    time: u64,
    verdict: Verdict,
) -> impl Fn(CompletedCall) -> std::pin::Pin<Box<dyn Future<Output = Result<Verdict, PolicyError>> + Send>> {
    move |_| {
        let verdict = verdict.clone();
        async move {
            sleep(Duration::from_millis(time)).await;
            Ok(verdict)
        }
        .boxed()
    }
}

async fn failing(_: CompletedCall) -> Result<Verdict, PolicyError> {
    Err(PolicyError::new("out of order"))
}

/// What a judge answers, and how many milliseconds later.
async fn answer(judge: &impl Judge) -> (Result<Verdict, String>, u128) {
    let start = Instant::now();
    let verdict = judge.judge(call()).await.map_err(|error| error.to_string());
    (verdict, start.elapsed().as_millis())
}

#[tokio::test(start_paused = true)]
async fn all_asks_side_by_side() {
    let judge = All::new().and(after(200, Verdict::Release)).and(after(300, Verdict::Release));
    assert_eq!(answer(&judge).await, (Ok(Verdict::Release), 300));
}

#[tokio::test(start_paused = true)]
async fn in_all_the_first_denial_wins_and_cancels_the_rest() {
    let heard = Arc::new(AtomicUsize::new(0));
    let late = {
        let heard = Arc::clone(&heard);
        move |_: CompletedCall| {
            let heard = Arc::clone(&heard);
            async move {
                sleep(Duration::from_millis(500)).await;
                heard.fetch_add(1, Ordering::Relaxed);
                Ok(Verdict::Release)
            }
        }
    };
    let judge = All::new()
        .and(late)
        .and(after(200, Verdict::drop("second")))
        .and(after(100, Verdict::Terminate(Ending::refuse("first"))));
    assert_eq!(answer(&judge).await, (Ok(Verdict::Terminate(Ending::refuse("first"))), 100));
    sleep(Duration::from_secs(1)).await;
    assert_eq!(heard.load(Ordering::Relaxed), 0);
}

#[tokio::test(start_paused = true)]
async fn in_all_a_denial_is_heard_after_a_failure() {
    let judge = All::new().and(failing).and(after(100, Verdict::drop("no")));
    assert_eq!(answer(&judge).await, (Ok(Verdict::drop("no")), 100));
    let judge = All::new().and(failing).and(after(100, Verdict::Release));
    assert_eq!(answer(&judge).await, (Err("out of order".to_owned()), 100));
}

#[tokio::test]
async fn in_all_a_replacement_is_a_denial() {
    let judge = All::new().and(after(0, Verdict::Replace(Replacement::arguments("{}"))));
    let denial = Verdict::drop("a replacement beside other judges is judged by none of them");
    assert_eq!(answer(&judge).await.0, Ok(denial));
}

#[tokio::test]
async fn without_a_judge_every_call_is_denied() {
    assert_eq!(answer(&All::new()).await.0, Ok(Verdict::drop("there is no judge")));
    assert_eq!(answer(&CheapestFirst::new()).await.0, Ok(Verdict::drop("there is no judge")));
}

#[tokio::test(start_paused = true)]
async fn the_cheapest_is_asked_first_and_its_denial_spares_the_others() {
    let rules = RulesSettings::otherwise(Otherwise::Allow).deny(Rule::tools(["shell"])).build().unwrap();
    let judge = CheapestFirst::new().and(after(200, Verdict::Release)).and(rules);
    assert_eq!(judge.cost(), Cost::Local);
    assert_eq!(answer(&judge).await, (Ok(Verdict::drop("a rule denies shell")), 0));
    let judge = CheapestFirst::new().and(after(200, Verdict::Release)).and(after(100, Verdict::Release));
    assert_eq!(answer(&judge).await, (Ok(Verdict::Release), 300));
}

#[tokio::test]
async fn cheapest_first_judges_what_was_replaced() {
    let swap = |_: CompletedCall| async { Ok(Verdict::Replace(Replacement::arguments("{}").named("pwd"))) };
    let rules = |tool| RulesSettings::otherwise(Otherwise::Allow).deny(Rule::tools([tool])).build().unwrap();
    let seen = |call: CompletedCall| async move {
        assert_eq!((call.name(), call.arguments()), ("pwd", "{}"));
        Ok(Verdict::Release)
    };
    let judge = CheapestFirst::new().and(swap).and(seen).and(rules("other"));
    let replaced = Verdict::Replace(Replacement::arguments("{}").named("pwd"));
    assert_eq!(answer(&judge).await.0, Ok(replaced));
    let deny = move |call: CompletedCall| {
        let verdict = rules("pwd").verdict(&call);
        async { Ok(verdict) }
    };
    let judge = CheapestFirst::new().and(swap).and(deny);
    assert_eq!(answer(&judge).await.0, Ok(Verdict::drop("a rule denies pwd")));
}

#[tokio::test(start_paused = true)]
async fn cached_asks_once_for_the_same_name_and_arguments() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let judge = move |_: CompletedCall| {
        count.fetch_add(1, Ordering::Relaxed);
        async { Ok(Verdict::drop("no")) }
    };
    let judge = Cached::new(judge, 2).no_longer_than(Duration::from_secs(10));
    let ask = async |name: &str, arguments: &str| {
        let verdict = judge.judge(CompletedCall::new(name, arguments)).await;
        assert_eq!(verdict.unwrap(), Verdict::drop("no"));
        asked.load(Ordering::Relaxed)
    };
    assert_eq!(ask("a", "{}").await, 1);
    assert_eq!(ask("a", "{}").await, 1);
    assert_eq!(ask("a", "{ }").await, 2);
    assert_eq!(ask("b", "{}").await, 3);
    // The bound is two: the oldest was forgotten, the youngest was not.
    assert_eq!(ask("b", "{}").await, 3);
    assert_eq!(ask("a", "{}").await, 4);
    sleep(Duration::from_secs(10)).await;
    assert_eq!(ask("a", "{}").await, 5);
    let long = format!("\"{}\"", "x".repeat(16 << 10));
    assert_eq!(ask("a", &long).await, 6);
    assert_eq!(ask("a", &long).await, 7);
}

#[tokio::test]
async fn cached_does_not_remember_a_failure() {
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let judge = Cached::new(
        move |call| {
            count.fetch_add(1, Ordering::Relaxed);
            failing(call)
        },
        8,
    );
    for n in 1..3 {
        assert_eq!(answer(&judge).await.0, Err("out of order".to_owned()));
        assert_eq!(asked.load(Ordering::Relaxed), n);
    }
}

#[tokio::test]
async fn what_cannot_stand_in_the_place_of_a_call_is_a_denial() {
    let swap = |with: &'static str| after(0, Verdict::Replace(Replacement::arguments(with)));
    let asked = async |with| ask(&swap(with), call()).await.unwrap();
    assert_eq!(asked(r#"{"a":1}"#).await, Verdict::Replace(Replacement::arguments(r#"{"a":1}"#)));
    for wrong in ["", "[]", "1", "{", r#"{"a":1,"a":2}"#] {
        let denial = Verdict::drop("what was to stand in its place is no JSON object");
        assert_eq!(asked(wrong).await, denial, "{wrong}");
    }
    let custom = call().with_flavor(stream_core::CallFlavor::Custom);
    let verdict = ask(&swap("free text"), custom).await.unwrap();
    assert_eq!(verdict, Verdict::Replace(Replacement::arguments("free text")));
}

#[tokio::test]
async fn a_call_without_a_name_is_denied_without_asking() {
    let asked = ask(&failing, CompletedCall::new(" ", "{}")).await.unwrap();
    assert_eq!(asked, Verdict::drop("it has no name"));
}
