//! The first screen: what is served, and what to try.

use std::fmt::Write as _;
use std::net::SocketAddr;

use stream_http::tool_loop::Tools;

use crate::config::{Config, Record};

/// What is said when it starts.
pub(super) fn text(config: &Config, tools: &Tools, address: SocketAddr, admin: Option<SocketAddr>) -> String {
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let base = format!("{scheme}://{address}");
    let mut text = format!("gateway: serving on {base}\n\n");
    // Writing to a string does not fail.
    let _ = match config.targets.is_empty() {
        true => writeln!(
            text,
            "The program answers by itself, with hand-written logs; --upstream URL or --config FILE sends requests on."
        ),
        false => write!(text, "{}", config.targets),
    };
    let _ = writeln!(text, "\n{}\n{}", config.describe(), config.settings.describe());
    if let Some(tool_loop) = &config.tool_loop {
        let _ = writeln!(text, "{}", tool_loop.describe(tools));
    }
    if !config.clients.is_empty() {
        let names: Vec<String> = config.clients.names().map(ToString::to_string).collect();
        let _ = writeln!(text, "clients with a key of their own: {}\n", names.join(", "));
    }
    if let Some(Record { directory, clients }) = &config.record {
        let whose = clients.as_ref().map_or(String::new(), |names| format!(" to {}", names.join(", ")));
        let _ = writeln!(text, "answers{whose} are recorded in {}\n", directory.display());
    }
    if let Some(file) = &config.request_log {
        let _ = writeln!(text, "requests are logged in {}\n", file.display());
    }
    if config.targets.is_empty() {
        text += &tries(&base);
    }
    match admin {
        Some(admin) => {
            let _ = writeln!(
                text,
                "admin side: http://{admin}/metrics   http://{admin}/readyz   streams as they run: http://{admin}/live"
            );
        }
        None => text += "no metrics: `admin = \"127.0.0.1:8081\"` or --admin says where\n",
    }
    let _ = writeln!(text, "{base}/healthz   ctrl-c stops when every stream is over");
    text
}

fn tries(base: &str) -> String {
    format!(
        r#"Try it. The model wants to run `rm -rf` and tells a key; you will see the text with [redacted] in place of the
key, the notice in place of the call of `shell`, and the call of `list_files`:

  curl -N {base}/v1/chat/completions -H 'content-type: application/json' \
    -d '{{"model":"demo","stream":true,"messages":[{{"role":"user","content":"Clean up, please."}}]}}'
  curl -N {base}/v1/responses -H 'content-type: application/json' -d '{{"model":"demo","stream":true,"input":"Clean up, please."}}'
  curl -N {base}/v1/messages -H 'content-type: application/json' -H 'anthropic-version: 2023-06-01' \
    -d '{{"model":"demo","max_tokens":500,"stream":true,"messages":[{{"role":"user","content":"Clean up, please."}}]}}'
  curl -N '{base}/v1beta/models/demo:streamGenerateContent?alt=sse' -H 'content-type: application/json' \
    -d '{{"contents":[{{"role":"user","parts":[{{"text":"Clean up, please."}}]}}]}}'

The model demo-tags writes its call into the text: you will see it between ojlk and dfsd, the tags of demo.toml:

  curl -N {base}/v1/chat/completions -H 'content-type: application/json' \
    -d '{{"model":"demo-tags","stream":true,"messages":[{{"role":"user","content":"List the files."}}]}}'

The model demo-loop counts letters with a tool that the gateway runs itself: ask it in the same way, and you will see one
answer, and no call.

Without "stream":true (Gemini: with :generateContent) the answer is whole, and policed all the same. With an SDK:

  python: openai.OpenAI(base_url="{base}/v1", api_key="any").chat.completions.create(model="demo", messages=[...], stream=True)
          anthropic.Anthropic(base_url="{base}", api_key="any").messages.create(model="demo", max_tokens=500, messages=[...])
          google.genai.Client(api_key="any", http_options={{"base_url": "{base}"}}).models.generate_content(model="demo", contents="...")
  node:   new OpenAI({{ baseURL: "{base}/v1", apiKey: "any" }}).responses.create({{ model: "demo", input: "..." }})

Without policies, for comparison: cargo run -p gateway -- inspect gateway/logs/chat.sse
What was held, and why:           cargo run -p gateway -- replay gateway/logs/chat.sse --config gateway/demo.toml --html page.html

"#
    )
}
