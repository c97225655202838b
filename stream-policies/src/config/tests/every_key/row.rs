//! Two files that differ in one key, and what they make of an answer.

use std::time::Duration;

use serde_json::Value;
use stream_core::{
    Chunk, Config, Context, Needs, Policy, PolicyError, Request, StreamState, async_trait, policy_fn,
};
use stream_testkit::{ChunkLog, Replay, Script, WireKind, differing_paths};

use super::oracle::Oracle;
use crate::config::Registry;

/// A key, and an answer for which it matters.
pub(super) struct Row {
    pub(super) key: String,
    /// The file with the key, and without it or with another value.
    files: [String; 2],
    shown: Shown,
    kinds: Vec<WireKind>,
    request: Request,
    oracle: Option<fn(&str, usize) -> String>,
}

/// How the effect of a key is seen.
enum Shown {
    /// In what leaves, and in its records.
    Answer(Box<dyn Fn(WireKind) -> ChunkLog>),
    /// In what is told at start.
    Start,
    /// The key says nothing here, and is refused with this error.
    Refused(&'static str),
}

impl Row {
    /// `file` has an `@` in the place of the two values.
    pub(super) fn new(
        key: impl Into<String>,
        file: &str,
        [with, without]: [&str; 2],
        script: Script,
    ) -> Self {
        Self::over(key, file, [with, without], move |kind| script.to_log(kind))
    }

    /// A row over any log.
    pub(super) fn over(
        key: impl Into<String>,
        file: &str,
        values: [&str; 2],
        log: impl Fn(WireKind) -> ChunkLog + 'static,
    ) -> Self {
        Self {
            key: key.into(),
            files: values.map(|value| file.replacen('@', value, 1)),
            shown: Shown::Answer(Box::new(log)),
            kinds: WireKind::ALL.to_vec(),
            request: Request::new().model("small-1").without_session(),
            oracle: None,
        }
    }

    /// A row of a key that is told at start.
    pub(super) fn told(key: impl Into<String>, file: &str, values: [&str; 2]) -> Self {
        let row = Self::new(key, file, values, Script::new());
        Self { shown: Shown::Start, ..row }
    }

    /// A row of a key that cannot have an effect in this place.
    pub(super) fn refused(key: impl Into<String>, file: &str, value: &str, error: &'static str) -> Self {
        let row = Self::new(key, file, [value, ""], Script::new());
        Self { shown: Shown::Refused(error), ..row }
    }

    /// Only in this format, and why: the others have no such thing.
    pub(super) fn only(mut self, kinds: &[WireKind]) -> Self {
        self.kinds = kinds.to_vec();
        self
    }

    /// The answer to this request.
    pub(super) fn to(mut self, request: Request) -> Self {
        self.request = request;
        self
    }

    /// With somebody at `$URL`, who is asked and answers.
    pub(super) fn asking(mut self, oracle: fn(&str, usize) -> String) -> Self {
        self.oracle = Some(oracle);
        self.only(&[WireKind::OpenAiChat])
    }

    /// Whether the files differ in the key alone, and the key makes a difference.
    pub(super) fn check(&self) -> Result<(), String> {
        let wrong = |what: &str| Err(format!("{}: {what}\n{}", self.key, self.files.join("\n--\n")));
        let [with, without] = self.files.each_ref().map(|file| tree(file));
        let differ = differing_paths(&with, &without);
        if differ.is_empty() || !differ.iter().all(|path| is_of(path, &self.key)) {
            return wrong(&format!("the files differ in {differ:?}"));
        }
        if let Shown::Refused(expected) = self.shown {
            return match self.outcomes(WireKind::OpenAiChat) {
                [Err(error), Ok(_)] if error == expected => Ok(()),
                found => wrong(&format!("{found:?}")),
            };
        }
        for kind in &self.kinds {
            match self.outcomes(*kind) {
                [Ok(with), Ok(without)] if with != without => {
                    if self.outcome(&self.files[1], *kind) != Ok(without) {
                        return wrong(&format!("{kind}: the same file makes a difference"));
                    }
                }
                [Ok(with), Ok(_)] => return wrong(&format!("{kind}: it makes no difference: {with}")),
                found => return wrong(&format!("{kind}: {found:?}")),
            }
        }
        Ok(())
    }

    fn outcomes(&self, kind: WireKind) -> [Result<String, String>; 2] {
        self.files.each_ref().map(|file| self.outcome(file, kind))
    }

    fn outcome(&self, file: &str, kind: WireKind) -> Result<String, String> {
        let oracle = self.oracle.map(Oracle::new);
        let address = oracle.as_ref().map(Oracle::address).unwrap_or_default();
        let set = registry().read_toml(&file.replace("$URL", &address)).map_err(|error| error.to_string())?;
        let Shown::Answer(log) = &self.shown else { return Ok(set.describe().to_string()) };
        let config = Config::default().request(self.request.clone());
        let config = set.configure(config, self.request.model_name());
        let replay = Replay::new(log(kind)).config(config).policy(move || set.chain());
        let replayed = if oracle.is_some() {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(replay.run_async())
        } else {
            replay.run()
        };
        let mut told = String::from_utf8_lossy(&replayed.bytes()).into_owned();
        for decision in &replayed.decisions {
            let (policy, action, reason) = (&decision.policy, decision.action.word(), &decision.reason);
            told += &format!("{policy}: {action} {} {reason:?}\n", decision.bytes);
        }
        Ok(told + &format!("{:?}", replayed.outcome.and_then(|outcome| outcome.error)))
    }
}

/// The bundled kinds, one that waits at every step, and one that fails.
fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.register("waits", |_: Value| Ok(|| Waits)).unwrap();
    registry
        .register("fails", |_: Value| Ok(|| policy_fn(|_, _, _| Err(PolicyError::new("it fails")))))
        .unwrap();
    registry
}

/// Sends every chunk after a second.
struct Waits;

#[async_trait]
impl Policy for Waits {
    fn name(&self) -> &str {
        "waits"
    }

    fn needs(&self, _: &Request) -> Needs {
        Needs::everything()
    }

    async fn on_chunk(
        &mut self,
        chunk: Chunk,
        _: &StreamState,
        ctx: &mut Context<'_>,
    ) -> Result<(), PolicyError> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        ctx.send(chunk);
        Ok(())
    }
}

/// A file, with every policy under the name of its kind.
fn tree(file: &str) -> Value {
    let mut tree: Value = toml::from_str(file).unwrap_or_else(|error| unreachable!("{error}\n{file}"));
    let policies = std::mem::take(&mut tree["policy"]);
    for policy in policies.as_array().unwrap() {
        tree[policy["kind"].as_str().unwrap()] = policy.clone();
    }
    tree
}

/// Whether a path is that of a key, or of something inside of it. The keys that all kinds have are those of `any`.
fn is_of(path: &str, key: &str) -> bool {
    let (path, key): (Vec<&str>, Vec<&str>) = (path.split('.').collect(), key.split('.').collect());
    let same = |(path, key): (&&str, &&str)| {
        path == key || *key == "any" || key.strip_prefix('*').is_some_and(|rest| path.ends_with(rest))
    };
    let inside = |(path, key): (&&str, &&str)| path.trim_end_matches("[]") == *key;
    let last = key.len() - 1;
    path.len() >= key.len()
        && path.iter().zip(&key).take(last).all(same)
        && (same((&path[last], &key[last])) || inside((&path[last], &key[last])))
}
