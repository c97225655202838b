//! Where a moment stands on the page.
//!
//! Width is time, with two exceptions: chunks that came at once stand side by side, and a long silence is drawn
//! shorter, with a mark, so that ten seconds of a judge do not hide what happened before.

use std::time::Duration;

/// A moment: something happened, after what happened before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Moment(usize);

/// The moments of a replay, in order.
#[derive(Debug, Default)]
pub(super) struct Scale {
    times: Vec<Duration>,
    places: Vec<f64>,
    silences: Vec<Silence>,
}

/// A silence that is drawn shorter than it was.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Silence {
    pub(super) from: f64,
    pub(super) to: f64,
    pub(super) lasted: Duration,
}

impl Scale {
    /// A new moment, also if it has the time of the one before.
    pub(super) fn moment(&mut self, at: Duration) -> Moment {
        self.times.push(at);
        Moment(self.times.len() - 1)
    }

    /// The last moment if it has this time, else a new one.
    pub(super) fn at(&mut self, at: Duration) -> Moment {
        match self.times.last() {
            Some(last) if *last == at => Moment(self.times.len() - 1),
            _ => self.moment(at),
        }
    }

    /// The first moment of a time, or the one before it.
    pub(super) fn first_of(&self, at: Duration) -> Moment {
        let place = self.times.partition_point(|time| *time < at);
        match self.times.get(place) {
            Some(time) if *time == at => Moment(place),
            _ => Moment(place.saturating_sub(1)),
        }
    }

    /// No more moments come: places are known from now on.
    pub(super) fn settle(&mut self) {
        let gaps: Vec<f64> =
            self.times.windows(2).map(|pair| pair[1].saturating_sub(pair[0]).as_secs_f64()).collect();
        let longest = cap(&gaps);
        let time: f64 = gaps.iter().map(|gap| gap.min(longest)).sum();
        // Half of the width is time, half is there so that every moment has a place of its own.
        let step = if time > 0.0 { time / as_float(gaps.len()) } else { 1.0 };
        let mut place = 0.0;
        self.places = vec![place];
        for gap in &gaps {
            place += gap.min(longest) + step;
            self.places.push(place);
        }
        let whole = if place > 0.0 { place } else { 1.0 };
        self.places.iter_mut().for_each(|place| *place *= WIDTH / whole);
        let cut = gaps.iter().enumerate().filter(|(_, gap)| **gap > longest);
        self.silences = cut
            .map(|(before, gap)| Silence {
                from: self.places[before],
                to: self.places[before + 1],
                lasted: Duration::from_secs_f64(*gap),
            })
            .collect();
    }

    /// Where a moment stands, in hundredths of the width.
    pub(super) fn place(&self, moment: Moment) -> f64 {
        self.places.get(moment.0).copied().unwrap_or_default()
    }

    /// The time of a moment.
    pub(super) fn time(&self, moment: Moment) -> Duration {
        self.times.get(moment.0).copied().unwrap_or_default()
    }

    pub(super) fn silences(&self) -> &[Silence] {
        &self.silences
    }

    /// How many moments there are.
    pub(super) fn len(&self) -> usize {
        self.times.len()
    }

    /// The times that are written below, each with its place: not too near to each other.
    pub(super) fn ticks(&self) -> Vec<(f64, Duration)> {
        let mut ticks: Vec<(f64, Duration)> = Vec::new();
        for (time, place) in self.times.iter().zip(&self.places) {
            let told = ticks.last().is_some_and(|(last, before)| place - last < APART || time == before);
            if !told {
                ticks.push((*place, *time));
            }
        }
        ticks
    }
}

/// The longest a gap is drawn: none takes more than a fifth of all.
fn cap(gaps: &[f64]) -> f64 {
    let mut cap = gaps.iter().copied().fold(0.0, f64::max);
    for _ in 0..32 {
        let whole: f64 = gaps.iter().map(|gap| gap.min(cap)).sum();
        if cap <= whole / 5.0 || gaps.len() < 6 {
            break;
        }
        cap *= 0.8;
    }
    cap
}

#[expect(clippy::cast_precision_loss, reason = "no replay has that many moments")]
fn as_float(count: usize) -> f64 {
    count as f64
}

/// Room is left on the right for what ends there.
const WIDTH: f64 = 94.0;
/// How far apart two times stand at least.
const APART: f64 = 6.5;

#[cfg(test)]
mod tests {
    use super::*;

    fn scale(times: &[u64]) -> Scale {
        let mut scale = Scale::default();
        for time in times {
            scale.moment(Duration::from_millis(*time));
        }
        scale.settle();
        scale
    }

    #[test]
    fn moments_of_one_time_stand_side_by_side() {
        let scale = scale(&[0, 0, 0]);
        assert_eq!(scale.places, [0.0, 47.0, 94.0]);
        assert_eq!(scale.ticks(), [(0.0, Duration::ZERO)]);
    }

    #[test]
    fn width_is_time() {
        let scale = scale(&[0, 10, 30]);
        assert_eq!(scale.places.iter().map(|place| place.round()).collect::<Vec<_>>(), [0.0, 39.0, 94.0]);
        assert_eq!(scale.silences(), []);
    }

    #[test]
    fn a_long_silence_is_drawn_shorter_and_says_how_long_it_was() {
        let scale = scale(&[0, 10, 20, 30, 40, 50, 60, 10_060]);
        let [silence] = scale.silences() else {
            panic!("expected one silence, found {:?}", scale.silences())
        };
        assert_eq!(silence.lasted, Duration::from_secs(10));
        assert!(silence.to - silence.from < 25.0);
    }

    #[test]
    fn the_moment_of_a_time_is_found() {
        let mut scale = scale(&[0, 10, 10, 30]);
        assert_eq!(scale.first_of(Duration::from_millis(10)), Moment(1));
        assert_eq!(scale.first_of(Duration::from_millis(20)), Moment(2));
        assert_eq!(scale.at(Duration::from_millis(30)), Moment(3));
        assert_eq!(scale.time(Moment(3)), Duration::from_millis(30));
    }
}
