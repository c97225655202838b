//! A chain: each policy gets what the one before it let go.
//!
//! `cargo run -p snippets --example chain`

use std::convert::Infallible;
use std::error::Error;

use futures::{StreamExt as _, stream};
use stream_core::{Assembler, Chain, StreamProcessor};
use stream_policies::judge::rules::{Condition, Otherwise, Rule, RulesSettings};
use stream_policies::observe::Decisions;
use stream_policies::validate_parameters::ToolSettings;
use stream_policies::{Preset, RedactSettings, ToolGate, ToolGateSettings, ValidateParametersSettings};
use stream_testkit::{Script, WireKind};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    // Once, at start: what rewrites calls, then what judges them, then what takes secrets out.
    let shell = ToolSettings::new().required(["command"]).alias("command", ["cmd", "bash"]);
    let validate = ValidateParametersSettings::new().tool("shell", shell).build()?;
    let rules = RulesSettings::otherwise(Otherwise::Allow)
        .deny(
            Rule::tools(["shell"]).when(Condition::at("/command").regex("rm ")).because("nothing is deleted"),
        )
        .build()?;
    let gate = ToolGate::new(rules).settings(ToolGateSettings::default().notice("[{reason}]"));
    let redact = RedactSettings::default().preset(Preset::Email).build()?;

    // For each stream: policies of its own, and somebody who is told what they do.
    let chain = Chain::new().then(validate).then(gate).then(redact);
    let told = Decisions::to(|decision| {
        if decision.is_edit() {
            println!(
                "{}: {:?}, {}",
                decision.policy,
                decision.action,
                decision.reason.as_deref().unwrap_or("-")
            );
        }
    });
    let answer = Script::new()
        .text("I write to jane@example.com and clean up.")
        .call("call_1", "shell", r#"{"cmd":"rm -rf /tmp/x"}"#)
        .call("call_2", "shell", r#"{"cmd":"ls"}"#);
    let upstream = stream::iter([Ok::<_, Infallible>(answer.bytes(WireKind::AnthropicMessages))]);
    let mut policed = StreamProcessor::builder().observer(told).chain(chain).build(upstream)?;

    // The client puts together what it gets.
    let mut client = Assembler::new();
    while let Some(bytes) = policed.next().await {
        client.push(&bytes)?;
    }
    client.finish()?;
    for block in client.state().blocks() {
        match block.as_tool_call() {
            Some(call) => println!("call {} with {}", call.name(), call.arguments()),
            None => println!("text {:?}", block.as_text().map(|text| text.text()).unwrap_or_default()),
        }
    }
    Ok(())
}
