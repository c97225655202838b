//! Every bundled policy, with settings under which all of a stream passes.

use stream_core::text_calls::{DialectSet, known};
use stream_core::{Config, Limits, PolicyError, Stage, SyncPolicy, Verdict};
use stream_policies::{
    BufferedJudge, CompletedCall, Condition, DemoteCallsSettings, FinishGate, HideReasoning, InjectSettings,
    Passthrough, Pattern, Preset, PromoteTextCalls, QuotaSettings, RedactSettings, RewriteTagsSettings,
    StopOnSettings, ToolGate, ValidateParametersSettings, When,
};

/// A bundled policy, and what makes one for each stream.
pub struct Bundled {
    pub name: &'static str,
    pub make: Box<dyn Fn() -> Stage>,
    /// Whether the policy is about calls that the model writes as text.
    pub reads_text_calls: bool,
}

impl Bundled {
    fn new(name: &'static str, make: impl Fn() -> Stage + 'static) -> Self {
        Self { name, make: Box::new(make), reads_text_calls: false }
    }

    fn of<P: SyncPolicy + Clone + 'static>(name: &'static str, policy: P) -> Self {
        Self::new(name, move || Stage::new(policy.clone()))
    }

    fn reads_text_calls(mut self) -> Self {
        self.reads_text_calls = true;
        self
    }

    pub fn config(&self) -> Config {
        let config = Config::default().limits(Limits::default().held(1 << 30));
        if self.reads_text_calls {
            config.text_calls(DialectSet::new().with(known::hermes()))
        } else {
            config
        }
    }
}

/// All of them. The first is what the others are compared with.
pub fn policies() -> Vec<Bundled> {
    let ticket = || Pattern::regex("ticket", "TCK-[0-9]{6}");
    let redact = |settings: RedactSettings| settings.build().expect("settings");
    let one = redact(RedactSettings::default().pattern(ticket()));
    let key = redact(RedactSettings::default().preset(Preset::ApiKey));
    let all = redact(Preset::ALL.into_iter().fold(RedactSettings::default(), RedactSettings::preset));
    let stop = StopOnSettings::default().pattern(ticket()).build().expect("settings");
    let quota = QuotaSettings::default().bytes(usize::MAX).build().expect("settings");
    let validate = ValidateParametersSettings::new().alias("command", ["cmd"]).build().expect("settings");
    let inject = InjectSettings::default().before("[a] ").after(" [b]").build().expect("settings");
    let demote = DemoteCallsSettings::dialect("hermes").build().expect("settings");
    let tags = RewriteTagsSettings::dialect("hermes").build().expect("settings");
    let watched = one.clone();
    vec![
        Bundled::new("passthrough", || Passthrough.into()),
        Bundled::new("buffered judge", || BufferedJudge::new(allow).into()),
        Bundled::of("tool gate", ToolGate::new(allow)),
        Bundled::new("tool gate, when a model is asked", || {
            When::new(Condition::model("*").expect("a glob"), ToolGate::new(allow)).into()
        }),
        Bundled::of("finish gate", FinishGate::new()),
        Bundled::of("validate parameters", validate),
        Bundled::of("redact, one pattern", one),
        Bundled::of("redact, api keys", key),
        Bundled::of("redact, all presets", all),
        Bundled::of("stop on", stop),
        Bundled::of("quota of bytes", quota),
        Bundled::of("hide reasoning", HideReasoning::default()),
        Bundled::of("inject", inject),
        Bundled::of("demote calls", demote),
        Bundled::new("promote text calls", || PromoteTextCalls::new().into()).reads_text_calls(),
        Bundled::of("rewrite tags", tags).reads_text_calls(),
        Bundled::new("redact, one pattern, in a dry run", move || Stage::new(watched.clone()).monitor()),
    ]
}

async fn allow(_: CompletedCall) -> Result<Verdict, PolicyError> {
    Ok(Verdict::Release)
}
