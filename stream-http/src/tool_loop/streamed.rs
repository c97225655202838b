//! Streamed answers: read as they come, and written as one.

use std::future::Future;
use std::marker::PhantomData;

use bytes::Bytes;
use futures::StreamExt as _;
use http::Response;
use stream_core::delta::DeltaKind;
use stream_core::sse::{Frame, Framer};
use stream_core::wire::Decoded;
use stream_core::{Assembler, StreamState};
use tokio::time::timeout;

use super::asked::{Asked, Sent};
use super::join::{Join, Mode, joiner};
use super::outlet::{Outlet, Spoken};
use super::run::Planned;
use super::settings::AtLimit;
use super::turns::{Decision, Next, TOO_LONG, Turns};
use super::whole::{self, Ended};
use crate::Settings;
use crate::answer::{head, says_events};
use crate::body::{ResponseBody, Trailers};
use crate::coding::Coding;
use crate::source::{Look, Source};

/// The client's stream.
pub(super) fn answer<S, ReqB, ResB>(turns: Turns<S>, source: Source<ResB>) -> ResponseBody<ResB>
where
    S: Asked<ReqB, ResB>,
    ReqB: Sent,
    ResB: Sent,
{
    let trailers = Trailers::default().filtered(head::without_digests);
    let kept = trailers.clone();
    let spoken = Spoken::new(move |outlet| async move {
        let join = joiner(turns.api(), turns.style.clone());
        Speaker { turns, join, outlet, out: Vec::new(), trailers: kept, bodies: PhantomData }
            .speak(source)
            .await;
    });
    ResponseBody::stream(spoken.map(Ok), trailers)
}

/// Writes the client's stream.
struct Speaker<S, ReqB, ResB> {
    turns: Turns<S>,
    join: Box<dyn Join>,
    outlet: Outlet,
    out: Vec<Bytes>,
    trailers: Trailers,
    bodies: PhantomData<fn(ReqB) -> ResB>,
}

/// Why an answer cannot be gone on with: a sentence for the client.
struct Broken(String);

impl From<&str> for Broken {
    fn from(message: &str) -> Self {
        Self(message.to_owned())
    }
}

impl<S, ReqB, ResB> Speaker<S, ReqB, ResB>
where
    S: Asked<ReqB, ResB>,
    ReqB: Sent,
    ResB: Sent,
{
    /// Says everything, and ends with exactly one ending.
    async fn speak(mut self, mut source: Source<ResB>) {
        if matches!(source.look(self.turns.shared.routes.limits.frame).await, Ok(Look::Json)) {
            return self.speak_whole(source).await;
        }
        loop {
            let decided = Box::pin(self.read(&mut source)).await;
            let next = match decided {
                Ok(Decision::Last(_)) => return,
                Ok(Decision::Run(calls)) => Box::pin(self.go_on(calls)).await,
                Ok(Decision::Limit(message)) => return self.limit(message).await,
                Ok(Decision::Fail(message)) => Err(message.into()),
                Err(broken) => Err(broken),
            };
            match next {
                Ok(Next::Answer(response)) => source = response,
                Ok(Next::Limit(message)) => return self.limit(message).await,
                Ok(Next::Fail(message)) => return self.fail(message).await,
                Err(Broken(message)) => return self.fail(&message).await,
            }
        }
    }

    /// Reads an answer to its end. What follows a call waits for the decision; everything else leaves as it comes.
    async fn read(&mut self, source: &mut Source<ResB>) -> Result<Decision, Broken> {
        let mut answer = Answer {
            framer: Framer::new(self.turns.shared.routes.limits.frame),
            fold: Assembler::with(self.turns.config()),
            held: Vec::new(),
            holds: false,
        };
        let idle = self.turns.shared.routes.limits.idle;
        loop {
            let piece = match timeout(idle, source.next()).await {
                Err(_) | Ok(Some(Err(_))) => return Err("the upstream's answer broke off".into()),
                Ok(piece) => piece.transpose().unwrap_or_default(),
            };
            let is_over = piece.is_none();
            for frame in answer.frames(piece.as_ref())? {
                self.turns.bytes = self.turns.bytes.saturating_add(frame.raw().len());
                self.frame(&mut answer, frame, is_over)?;
                if answer.fold.state().is_terminal() || self.out.len() > 64 {
                    self.flush().await;
                }
            }
            self.flush().await;
            if answer.holds && self.turns.bytes > self.turns.shared.settings.total_bytes {
                return Err(TOO_LONG.into());
            }
            if is_over || (answer.holds && answer.fold.state().is_terminal()) {
                return self.decide(answer, source, is_over).await;
            }
        }
    }

    /// Takes one frame. A tail is what the end of the bytes made a frame of: what it says is known only when the fold is
    /// over, so that it waits for the decision in any case.
    fn frame(&mut self, answer: &mut Answer, frame: Frame, is_tail: bool) -> Result<(), Broken> {
        // Nothing is to be known of what carries nothing: it may overtake.
        let says_nothing = frame.data_bytes().is_none() && !frame.is_stray();
        if says_nothing || frame.event() == Some("ping") {
            if is_tail {
                answer.held.push(frame);
            } else {
                self.out.push(frame.raw().clone());
            }
            return Ok(());
        }
        if self.is_too_long(answer) {
            return self.unread(answer, &frame);
        }
        let mut has_call = false;
        let folded = answer.fold.push_with(frame.raw(), |_, state: &StreamState| {
            has_call |= state.current_block().is_some_and(|block| block.as_tool_call().is_some());
        });
        let unreadable = || Broken::from("the upstream's answer could not be read");
        folded.map_err(|_| unreadable())?;
        if frame.is_stray() {
            // A line that only some clients read, and that cannot be written without its call.
            if has_call {
                return Err(unreadable());
            }
        } else {
            self.join.read(&frame).map_err(|_| unreadable())?;
        }
        answer.holds |= has_call;
        if answer.holds || is_tail {
            answer.held.push(frame);
            Ok(())
        } else {
            self.write(&frame, Mode::Pass)
        }
    }

    /// Writes a frame for the client. What is no event has no numbers to go on with.
    fn write(&mut self, frame: &Frame, mode: Mode) -> Result<(), Broken> {
        if frame.is_stray() || frame.data_bytes().is_none() {
            self.out.push(frame.raw().clone());
            return Ok(());
        }
        let written = self.join.write(frame, mode, &mut self.out);
        written.map_err(|_| Broken::from("the upstream's answer could not be read"))
    }

    /// Whether more has come than may be kept, and nothing waits: the first answer goes on all the same, but is no longer
    /// gathered.
    fn is_too_long(&self, answer: &Answer) -> bool {
        let is_first = self.turns.iteration == 0 && !answer.holds;
        is_first && self.turns.bytes > self.turns.shared.settings.total_bytes
    }

    /// Passes a frame on without keeping anything. A call in it would be nobody's.
    fn unread(&mut self, answer: &mut Answer, frame: &Frame) -> Result<(), Broken> {
        answer.fold = Assembler::with(self.turns.config());
        let mut decoded = Decoded::default();
        let read = self.turns.api().format().decode(frame, &mut decoded);
        if read.is_err() || decoded.deltas.iter().any(|delta| matches!(delta.kind, DeltaKind::Call(_))) {
            return Err(TOO_LONG.into());
        }
        self.out.push(frame.raw().clone());
        Ok(())
    }

    /// Decides over an answer that is over, and writes what of it was held.
    async fn decide(
        &mut self,
        mut answer: Answer,
        source: &mut Source<ResB>,
        is_over: bool,
    ) -> Result<Decision, Broken> {
        let unreadable = || Broken::from("the upstream's answer could not be read");
        answer.fold.finish().map_err(|_| unreadable())?;
        let decision = self.turns.decide(answer.fold.state());
        let mode = match &decision {
            Decision::Last(mode) => *mode,
            _ => Mode::Inner,
        };
        let passes = matches!(decision, Decision::Last(Mode::Pass)) && self.turns.iteration == 0;
        for frame in &answer.held {
            let is_open = !frame.raw().ends_with(b"\n\n") && !frame.raw().ends_with(b"\r\n\r\n");
            // A tail that is no event may have a call in it, which nobody could take out (rule 9).
            if is_open && !passes && (frame.is_stray() || frame.data_bytes().is_none()) {
                continue;
            }
            self.write(frame, mode)?;
            // Something may follow: an event is over only with its border (rule 20).
            if is_open && is_over && !passes {
                self.out.push(Bytes::from_static(b"\n\n"));
            }
        }
        self.flush().await;
        if let (Decision::Last(mode), false) = (&decision, is_over) {
            let mode = *mode;
            while let Some(Ok(piece)) = source.next().await {
                answer.framer.push(&piece);
                while let Ok(Some(frame)) = answer.framer.next_frame() {
                    self.join.write(&frame, mode, &mut self.out).map_err(|_| unreadable())?;
                }
                self.flush().await;
            }
        }
        let is_changed = self.turns.iteration > 0 || matches!(decision, Decision::Last(Mode::WithoutCalls));
        if matches!(decision, Decision::Last(_)) && is_changed && !self.turns.has_ended(answer.fold.state()) {
            // What is left of the answer must not look like a whole one.
            return Err("the upstream's answer broke off".into());
        }
        if let (Decision::Last(_), Some(trailers)) = (&decision, source.trailers().take()) {
            self.trailers.put(trailers);
        }
        Ok(decision)
    }

    /// Runs calls and asks again, with keep-alives for the client meanwhile.
    async fn go_on(&mut self, calls: Vec<Planned>) -> Result<Next<Source<ResB>>, Broken> {
        if let Some(notice) = self.turns.shared.settings.notice.clone() {
            for call in calls.iter().filter(|call| call.is_own()) {
                self.join.say(&notice.replace("{tool}", call.name()), &mut self.out);
            }
            self.flush().await;
        }
        let Self { turns, join, outlet, .. } = self;
        let routes = turns.shared.routes.clone();
        let going = turns.go_on(calls, |request, answered| join.extend(request, answered));
        let next = alive(going, routes.limits.keep_alive, join.keep_alive(), outlet).await;
        let response = match next.map_err(|_| Broken::from("the upstream could not be asked again"))? {
            Next::Answer(response) => response,
            Next::Limit(message) => return Ok(Next::Limit(message)),
            Next::Fail(message) => return Ok(Next::Fail(message)),
        };
        join.next();
        opened(response, &routes).await.map(Next::Answer)
    }

    /// A whole answer where a stream was promised.
    async fn speak_whole(mut self, source: Source<ResB>) {
        let ended = Box::pin(whole::run(&mut self.turns, source)).await;
        let body = match ended {
            Ok(Ended::Same(body, _) | Ended::Joined(body)) => Some(body),
            _ => None,
        };
        match body {
            Some(body) => self.out.push(body),
            None => self.join.fail("the upstream's answer could not be read", &mut self.out),
        }
        self.flush().await;
    }

    /// Ends with an error.
    async fn fail(mut self, message: &str) {
        self.join.fail(message, &mut self.out);
        self.flush().await;
    }

    /// Ends at a limit.
    async fn limit(mut self, message: &str) {
        match self.turns.shared.settings.at_limit {
            AtLimit::Error => self.join.fail(message, &mut self.out),
            AtLimit::Finish => {
                if !self.join.has_text() {
                    self.join.say(&format!("[{message}]"), &mut self.out);
                }
                self.join.stop(&mut self.out);
            }
        }
        self.flush().await;
    }

    async fn flush(&mut self) {
        self.outlet.send_all(&mut self.out).await;
    }
}

/// An answer that is read.
struct Answer {
    framer: Framer,
    fold: Assembler,
    held: Vec<Frame>,
    /// A call has come: everything waits.
    holds: bool,
}

impl Answer {
    /// The frames that a piece ends; without one, those that the end of the bytes does.
    fn frames(&mut self, piece: Option<&Bytes>) -> Result<Vec<Frame>, Broken> {
        let mut frames = Vec::new();
        if let Some(piece) = piece {
            self.framer.push(piece);
            while let Some(frame) =
                self.framer.next_frame().map_err(|_| Broken::from("a frame of the upstream's is too long"))?
            {
                frames.push(frame);
            }
        } else {
            while let Some(frame) = self.framer.finish() {
                frames.push(frame);
            }
        }
        Ok(frames)
    }
}

/// The body of an answer that goes on with the stream.
async fn opened<R: Sent>(response: Response<R>, routes: &Settings) -> Result<Source<R>, Broken> {
    let (parts, body) = response.into_parts();
    let coding = Coding::of(&parts.headers).ok_or("the upstream's answer could not be read")?;
    let mut source = Source::new(body, coding, routes.limits.idle);
    if !parts.status.is_success() {
        let body = source.read_all(routes.response_limit).await.ok().flatten().unwrap_or_default();
        return Err(Broken(
            whole::error_message(&body)
                .unwrap_or_else(|| format!("the upstream answered with status {}", parts.status.as_u16())),
        ));
    }
    let is_events =
        says_events(&parts.headers) || matches!(source.look(routes.limits.frame).await, Ok(Look::Events));
    if is_events { Ok(source) } else { Err("the upstream did not go on with a stream".into()) }
}

/// Waits for a future, with keep-alives for the client.
async fn alive<F: Future>(
    future: F,
    every: Option<std::time::Duration>,
    keep_alive: Bytes,
    outlet: &mut Outlet,
) -> F::Output {
    let mut future = Box::pin(future);
    let Some(every) = every else { return future.await };
    loop {
        match timeout(every, &mut future).await {
            Ok(output) => return output,
            Err(_) => outlet.send(keep_alive.clone()).await,
        }
    }
}
