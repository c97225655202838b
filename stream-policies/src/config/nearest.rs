//! The name that was probably meant.

/// The nearest of the known names, if one is near enough to be meant: at most a third of its letters differ, two at least.
pub(crate) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace('-', "_");
    let name = plain(name);
    let scored = known.into_iter().map(|other| (distance(&name, &plain(other)), other));
    let (far, other) = scored.min_by_key(|(far, _)| *far)?;
    (far <= 2.max(other.chars().count() / 3)).then_some(other)
}

/// How many letters have to be added, left out, exchanged or swapped with their neighbour to make one word of another.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=other.len()).collect();
    for i in 1..=one.len() {
        let mut row = vec![i];
        for j in 1..=other.len() {
            let same = usize::from(one[i - 1] != other[j - 1]);
            let mut best = (last[j - 1] + same).min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_that_was_meant_is_found() {
        let known = ["tool-gate", "finish-gate", "redact", "quota"];
        for (name, expected) in [
            ("toolgate", Some("tool-gate")),
            ("Tool_Gate", Some("tool-gate")),
            ("tool-gaet", Some("tool-gate")),
            ("finsh-gate", Some("finish-gate")),
            ("redcat", Some("redact")),
            ("cuota", Some("quota")),
            ("something", None),
        ] {
            assert_eq!(nearest(name, known), expected, "{name}");
        }
        assert_eq!(nearest("x", []), None);
    }
}
