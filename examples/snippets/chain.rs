//! Several policies in order, around one stream: `cargo run -p snippets --bin chain`.

use stream_core::{StreamProcessor, Verdict};
use stream_policies::{
    Chain, CompletedCall, InjectSettings, Preset, RedactSettings, SettingsError, ToolGate,
};
use stream_testkit::{Script, WireKind};

/// What every stream goes through; made anew for each of them.
fn chain() -> Result<Chain, SettingsError> {
    let gate = ToolGate::new(async |call: CompletedCall| match call.name() {
        "read_file" | "list_files" => Ok(Verdict::Release),
        _ => Ok(Verdict::drop("only reading is allowed")),
    });
    Ok(Chain::new()
        // What judges calls comes before what takes text out, and what adds text comes last.
        .then(gate)
        .then(RedactSettings::default().preset(Preset::Email).build()?)
        .then(InjectSettings::default().before("[watched] ").build()?))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // A whole response goes through the same policies as a stream.
    let answer = Script::new()
        .text("Ask jane@example.com.")
        .call("call_1", "list_files", "{}")
        .call("call_2", "delete_file", "{}")
        .whole(WireKind::AnthropicMessages);
    let whole = chain()?.add_to(StreamProcessor::builder()).whole(answer).await?;
    #[allow(clippy::print_stdout)]
    {
        println!("{}", String::from_utf8_lossy(&whole.body));
    }
    Ok(())
}
