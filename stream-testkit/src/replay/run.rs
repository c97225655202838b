//! Running a replay.

use futures::StreamExt as _;
use stream_core::BuildError;
use stream_core::processor::Builder;
use stream_core::{Outcome, StreamProcessor};
use tokio::runtime;
use tokio::time::Instant;

use super::recorder::Recorder;
use super::{Replay, Replayed, Step};
use crate::WireKind;

impl Replay {
    /// Runs it to its end, in virtual time. Works inside of a runtime too.
    ///
    /// # Panics
    ///
    /// When the policies cannot work together ([`BuildError`]), or a factory panics.
    #[must_use]
    pub fn run(&self) -> Replayed {
        match self.try_run() {
            Ok(replayed) => replayed,
            #[expect(
                clippy::panic,
                reason = "a test is not to go on with policies that cannot work together"
            )]
            Err(error) => panic!("{error}"),
        }
    }

    /// Runs the replay, like [`run`](Self::run).
    ///
    /// # Errors
    ///
    /// When the policies cannot work together.
    ///
    /// # Panics
    ///
    /// When a factory panics.
    pub fn try_run(&self) -> Result<Replayed, BuildError> {
        if runtime::Handle::try_current().is_err() {
            return self.run_alone();
        }
        // A runtime cannot be started inside of another one, but on another thread.
        std::thread::scope(|scope| match scope.spawn(|| self.run_alone()).join() {
            Ok(replayed) => replayed,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    }

    /// Runs it to its end on the clock of the runtime that it is awaited in: virtual if that is paused, else real.
    ///
    /// # Panics
    ///
    /// Runs the replay, like [`run`](Self::run).
    pub async fn run_async(&self) -> Replayed {
        match self.try_run_async().await {
            Ok(replayed) => replayed,
            #[expect(
                clippy::panic,
                reason = "a test is not to go on with policies that cannot work together"
            )]
            Err(error) => panic!("{error}"),
        }
    }

    async fn try_run_async(&self) -> Result<Replayed, BuildError> {
        let start = Instant::now();
        let recorder = Recorder::new(start);
        let mut builder = StreamProcessor::builder().config(self.config.clone()).observer(recorder.clone());
        let mut policies = Vec::new();
        for factory in &self.chains {
            let chain = factory();
            policies.extend(chain.iter().map(|stage| stage.name().to_owned()));
            builder = builder.chain(chain);
        }
        let run = async {
            if self.log.is_whole() {
                self.whole(builder, &recorder, start).await
            } else {
                self.stream(builder, &recorder, start).await
            }
        };
        let (output, outcome) = run.await?;
        let recorded = recorder.take();
        let decisions = recorded.steps.iter().filter_map(|(_, step)| match step {
            Step::Decided(decision) => Some(decision.clone()),
            _ => None,
        });
        let told = outcome.as_ref().and_then(|outcome| outcome.format);
        Ok(Replayed {
            name: self.log.name().to_owned(),
            policies,
            output,
            decisions: decisions.collect(),
            format: self.format(told),
            whole: self.log.is_whole(),
            redact: self.redact,
            outcome,
            held_max: recorded.held_max,
            steps: recorded.steps,
        })
    }

    fn run_alone(&self) -> Result<Replayed, BuildError> {
        let runtime = runtime::Builder::new_current_thread().enable_all().start_paused(true).build();
        match runtime {
            Ok(runtime) => runtime.block_on(self.try_run_async()),
            #[expect(clippy::panic, reason = "without a runtime there is nothing to test")]
            Err(error) => panic!("expected a runtime, found an error: {error}"),
        }
    }

    async fn stream(
        &self,
        builder: Builder,
        recorder: &Recorder,
        start: Instant,
    ) -> Result<Done, BuildError> {
        let mut processor = builder.build(self.upstream(start))?;
        let mut output = Vec::new();
        while let Some(bytes) = processor.next().await {
            recorder.out(&bytes);
            output.push((start.elapsed(), bytes));
        }
        Ok((output, processor.handle().outcome()))
    }

    async fn whole(&self, builder: Builder, recorder: &Recorder, start: Instant) -> Result<Done, BuildError> {
        let whole = builder.whole(self.body()).await?;
        recorder.out(&whole.body);
        Ok((vec![(start.elapsed(), whole.body)], whole.outcome))
    }

    /// The format that the stream was read in; the core's fallback if nothing tells.
    fn format(&self, told: Option<&str>) -> WireKind {
        let name = told.or(self.log.kind().map(WireKind::name));
        name.and_then(|name| name.parse().ok()).unwrap_or(WireKind::OpenAiChat)
    }
}

type Done = (Vec<(std::time::Duration, bytes::Bytes)>, Option<Outcome>);
