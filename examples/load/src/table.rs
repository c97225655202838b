//! A table in Markdown, as it stands in docs/benchmarks.md.

use std::fmt;

/// Rows under a head; the first column is text, the others are numbers.
#[derive(Debug)]
pub(crate) struct Table(Vec<Vec<String>>);

impl Table {
    pub(crate) fn new<const N: usize>(head: [&str; N]) -> Self {
        Self(vec![head.map(str::to_owned).to_vec()])
    }

    /// With a head whose length is not known before.
    pub(crate) fn of(head: Vec<&str>) -> Self {
        Self(vec![head.into_iter().map(str::to_owned).collect()])
    }

    pub(crate) fn row(&mut self, row: Vec<String>) {
        self.0.push(row);
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, row) in self.0.iter().enumerate() {
            writeln!(f, "| {} |", row.join(" | "))?;
            if n == 0 {
                writeln!(f, "|---|{}", "---:|".repeat(row.len() - 1))?;
            }
        }
        Ok(())
    }
}

/// A number with as many decimals as it deserves.
pub(crate) fn number(value: f64) -> String {
    match value {
        value if value.is_nan() => "-".to_owned(),
        value if value >= 100.0 => format!("{value:.0}"),
        value if value >= 10.0 => format!("{value:.1}"),
        value => format!("{value:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_markdown() {
        let mut table = Table::new(["way", "MB/s"]);
        table.row(vec!["bare".to_owned(), number(123.4)]);
        assert_eq!(table.to_string(), "| way | MB/s |\n|---|---:|\n| bare | 123 |\n");
    }

    #[test]
    fn numbers_have_three_digits() {
        assert_eq!([123.4, 12.34, 1.234, f64::NAN].map(number), ["123", "12.3", "1.23", "-"]);
    }
}
