//! A custom judge: files may be made, but none may be overwritten. It looks at the disk, so it is asked last.
//!
//! `cargo run -p snippets --example judge`

use std::error::Error;

use stream_core::{PolicyError, Verdict, async_trait};
use stream_policies::judge::rules::{Otherwise, Rule, RulesSettings};
use stream_policies::judge::{CheapestFirst, Cost, Judge};
use stream_policies::{CompletedCall, ToolGate};
use stream_testkit::{Replay, Script, WireKind};

struct NoOverwrite;

#[async_trait]
impl Judge for NoOverwrite {
    async fn judge(&self, call: CompletedCall) -> Result<Verdict, PolicyError> {
        if call.name() != "write_file" {
            return Ok(Verdict::Release);
        }
        // What a judge cannot decide is denied: arguments that are no JSON, a disk that does not answer.
        let arguments: serde_json::Value = serde_json::from_str(call.arguments())?;
        let path = arguments["path"].as_str().ok_or("expected a path, found none")?;
        if tokio::fs::try_exists(path).await? {
            return Ok(Verdict::drop("it would overwrite a file"));
        }
        Ok(Verdict::Release)
    }

    fn cost(&self) -> Cost {
        Cost::Local
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let rules =
        RulesSettings::otherwise(Otherwise::Deny).allow(Rule::tools(["read_*", "write_*"])).build()?;
    let gate = ToolGate::new(CheapestFirst::new().and(NoOverwrite).and(rules));

    let answer = Script::new()
        .call("call_1", "write_file", r#"{"path":"no-such-file.txt","text":"new"}"#)
        .call("call_2", "write_file", r#"{"path":"Cargo.toml","text":"gone"}"#)
        .call("call_3", "write_file", r#"{"text":"where?"}"#)
        .call("call_4", "delete_file", r#"{"path":"Cargo.toml"}"#);
    let replayed = Replay::new(answer.to_log(WireKind::OpenAiResponses)).policy(move || gate.clone()).run();
    for decision in replayed.decisions.iter().filter(|decision| decision.is_edit()) {
        println!("dropped: {}", decision.reason.as_deref().unwrap_or("-"));
    }
    for call in &replayed.view().choices[0].calls {
        println!("the client runs {} with {}", call.name, call.arguments);
    }
    Ok(())
}
