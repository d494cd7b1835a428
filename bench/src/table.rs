//! A Markdown table, and the cells that recur in them.

use crate::axis;

/// A table under construction; the first column is text, the others are aligned right.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these columns.
    pub(crate) fn new<T: Into<String>>(head: impl IntoIterator<Item = T>) -> Self {
        Self { head: head.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    /// Appends a row.
    pub(crate) fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// Whether nothing is in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table in Markdown.
    pub(crate) fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule: Vec<String> =
            (0..self.head.len()).map(|i| if i == 0 { "---" } else { "---:" }.to_owned()).collect();
        let rows: String = self.rows.iter().map(|row| line(row)).collect();
        line(&self.head) + &line(&rule) + &rows
    }
}

/// Seconds, or a dash.
pub(crate) fn seconds(value: Option<f64>) -> String {
    value.map_or_else(dash, axis::seconds)
}

/// `a / b` as `×2.13`, or a dash.
pub(crate) fn ratio(a: Option<f64>, b: Option<f64>) -> String {
    match (a, b) {
        (Some(a), Some(b)) if b > 0.0 => times(a / b),
        _ => dash(),
    }
}

/// A factor.
pub(crate) fn times(factor: f64) -> String {
    match factor {
        f if f >= 100.0 => format!("×{f:.0}"),
        f if f >= 10.0 => format!("×{f:.1}"),
        f if f < 0.1 => format!("×{f:.3}"),
        f => format!("×{f:.2}"),
    }
}

/// Nothing to show.
pub(crate) fn dash() -> String {
    "–".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_markdown() {
        let mut table = Table::new(["n", "time"]);
        table.row(["1K", "2 ms"]);
        assert_eq!(table.markdown(), "| n | time |\n| --- | ---: |\n| 1K | 2 ms |\n");
    }

    #[test]
    fn ratios_need_both_numbers() {
        assert_eq!(ratio(Some(3.0), Some(2.0)), "×1.50");
        assert_eq!(ratio(Some(3.0), None), "–");
    }
}
