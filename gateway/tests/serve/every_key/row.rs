//! Two files that differ in one key, and what is seen of each.

use std::future::Future;
use std::io::Read as _;
use std::pin::Pin;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;
use stream_testkit::{WireKind, differing_paths};

use super::upstream;
use crate::kit::{Answer, Directory, Gateway, question};

/// A key, and a case in which it matters.
pub(super) struct Row {
    pub(super) key: &'static str,
    /// The file with the key, and without it or with another value.
    files: [String; 2],
    see: See,
    /// A key that stands in the other file in the place of this one.
    instead: Option<&'static str>,
}

/// What is seen of a file.
pub(super) type See = fn(World) -> Pin<Box<dyn Future<Output = String> + Send>>;

/// A file on the disk, with what stands around the program.
pub(super) struct World {
    pub(super) directory: Directory,
    pub(super) file: String,
}

impl Row {
    /// `file` has an `@` in the place of the two values. `$UP` is an upstream, `$TLS` one behind TLS, `$TOOL` a tool, `$SLOW`
    /// one that takes its time, `$MCP` a server of tools.
    pub(super) fn new(key: &'static str, file: &str, values: [&str; 2], see: See) -> Self {
        Self { key, files: values.map(|value| file.replacen('@', value, 1)), see, instead: None }
    }

    /// Where one of two keys has to be said.
    pub(super) fn instead_of(mut self, key: &'static str) -> Self {
        self.instead = Some(key);
        self
    }

    /// Whether the files differ in the key alone, and the key makes a difference.
    pub(super) async fn check(&self) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("{}: {what}\n{}", self.key, self.files.join("\n--\n")));
        let [with, without] = self.files.each_ref().map(|file| {
            let tree: Value = toml::from_str(file).unwrap_or_else(|error| unreachable!("{error}\n{file}"));
            tree
        });
        let differ = differing_paths(&with, &without);
        let is_meant =
            |path: &String| is_of(path, self.key) || self.instead.is_some_and(|key| is_of(path, key));
        if differ.is_empty() || !differ.iter().all(is_meant) {
            return wrong(&format!("the files differ in {differ:?}"));
        }
        let seen = async |file: &str| (self.see)(World::new(file).await).await;
        let [with, without] = self.files.each_ref().map(|file| &**file);
        let seen: [String; 3] = futures::join!(seen(with), seen(without), seen(without)).into();
        if seen[0] == seen[1] {
            return wrong(&format!("it makes no difference: {}", seen[0]));
        }
        if seen[1] != seen[2] {
            return wrong(&format!("the same file makes a difference: {} {}", seen[1], seen[2]));
        }
        Ok(())
    }
}

impl World {
    async fn new(file: &str) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let directory = Directory::new(&format!("key-{}", NUMBER.fetch_add(1, Ordering::SeqCst)));
        let text = upstream::around(file, &directory).await;
        let file = directory.file("gateway.toml", &text);
        Self { directory, file }
    }

    /// The program, serving.
    pub(super) fn gateway(&self) -> Gateway {
        Gateway::spawn(&["--config", &self.file], &KEYS, "error", Stdio::null())
    }

    /// What the program says when it is started, and stopped at once.
    pub(super) fn started(&self) -> String {
        let mut child = Command::new(env!("CARGO_BIN_EXE_gateway"))
            .args(["--config", &self.file, "--log", "error"])
            .envs(KEYS)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = [0; 1 << 14];
        let mut out = child.stdout.take().unwrap();
        let count = out.read(&mut said).unwrap();
        let _ = child.kill();
        let mut error = String::new();
        child.stderr.take().unwrap().read_to_string(&mut error).unwrap();
        child.wait().unwrap();
        String::from_utf8_lossy(&said[..count]).into_owned() + &error
    }
}

/// Status, what the upstream saw, and body.
pub(super) fn seen(answer: &Answer) -> String {
    let saw = answer.headers.get("x-saw").map(|saw| saw.to_str().unwrap().to_owned());
    format!("{} {saw:?} {} {}", answer.status, String::from_utf8_lossy(&answer.body), answer.broke)
}

/// Asks the chat API for the answer of a model, streamed.
pub(super) async fn ask(gateway: &Gateway, model: &str) -> String {
    ask_with(gateway, model, &[]).await
}

/// The same with headers.
pub(super) async fn ask_with(gateway: &Gateway, model: &str, headers: &[(&str, &str)]) -> String {
    let (path, body) = question(WireKind::OpenAiChat, true);
    let body = body.replace("demo", model).replacen('{', r#"{"user":"one","#, 1);
    seen(&gateway.post_with(path, &body, headers).await)
}

/// Whether a path is that of a key, or of something inside of it.
fn is_of(path: &str, key: &str) -> bool {
    path.strip_prefix(key).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

/// Keys in the environment.
pub(super) const KEYS: [(&str, &str); 2] = [("KEY_A", "key-a"), ("KEY_B", "key-b")];
/// A file that lets everything pass.
pub(super) const PASS: &str = "[[policy]]\nkind = \"passthrough\"\n";
