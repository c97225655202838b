//! A judge of your own, with a memory over all streams: `cargo run -p snippets --bin judge`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use stream_core::{PolicyError, Verdict, async_trait};
use stream_policies::{CompletedCall, Judge, ToolGate};
use stream_testkit::{Replay, Script, WireKind};

/// Allows so many calls of a tool that costs money, and then no more.
#[derive(Clone)]
struct Budget(Arc<AtomicUsize>);

#[async_trait]
impl Judge for Budget {
    async fn judge(&self, call: CompletedCall) -> Result<Verdict, PolicyError> {
        if call.name() != "buy" {
            return Ok(Verdict::Release);
        }
        let taken = self.0.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        Ok(match taken {
            Ok(_) => Verdict::Release,
            Err(_) => Verdict::drop("the budget is spent"),
        })
    }
}

fn main() {
    let budget = Budget(Arc::new(AtomicUsize::new(1)));
    let script = Script::new().call("1", "buy", "{}").call("2", "look", "{}").call("3", "buy", "{}");
    // In virtual time, with everything that happens on record.
    let replayed =
        Replay::new(script.to_log(WireKind::OpenAiChat)).policy(move || ToolGate::new(budget.clone())).run();
    #[allow(clippy::print_stdout)]
    {
        print!("{}", replayed.transcript());
    }
}
