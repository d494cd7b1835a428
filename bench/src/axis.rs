//! Where values lie on an axis of a chart, and which of them are labelled.

/// An axis.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    /// What it measures.
    pub(crate) name: String,
    scale: Scale,
    unit: Unit,
}

/// How values are spaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Scale {
    /// Evenly, from zero.
    Linear,
    /// By their ratios.
    Logarithmic,
}

/// How values are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unit {
    /// 4, 256, 64K, 1M.
    Count,
    /// 5 µs, 20 ms, 3 s.
    Seconds,
    /// 512 MB, 4 GB.
    Bytes,
    /// 40 %.
    Percent,
}

/// An axis laid out on paper.
pub(crate) struct Placed {
    /// Places and labels.
    pub(crate) ticks: Vec<(f64, String)>,
    scale: Scale,
    low: f64,
    high: f64,
    start: f64,
    end: f64,
}

/// The most ticks before they get in each other's way.
const MOST_TICKS: usize = 10;

impl Axis {
    /// An axis.
    pub(crate) fn new(name: &str, scale: Scale, unit: Unit) -> Self {
        Self { name: name.to_owned(), scale, unit }
    }

    /// The axis as data.
    pub(crate) fn json(&self) -> serde_json::Value {
        let unit = match self.unit {
            Unit::Count => "count",
            Unit::Seconds => "seconds",
            Unit::Bytes => "bytes",
            Unit::Percent => "percent",
        };
        let log = self.scale == Scale::Logarithmic;
        serde_json::json!({"name": self.name, "log": log, "unit": unit})
    }

    /// Lays the axis out between two places of the paper, so that all values fit.
    pub(crate) fn place(&self, values: impl Iterator<Item = f64>, start: f64, end: f64) -> Placed {
        let mut values: Vec<f64> = values.filter(|v| self.can_show(*v)).collect();
        values.sort_unstable_by(f64::total_cmp);
        values.dedup();
        let (first, last) = match values[..] {
            [] => (1.0, 10.0),
            [only] if self.scale == Scale::Logarithmic => (only, only * 2.0),
            [only] => (0.0, only.max(1e-9)),
            [first, .., last] => (first, last),
        };
        let wanted = match self.scale {
            Scale::Linear => linear_ticks(if self.unit == Unit::Percent { 100.0 } else { last }),
            // The few sizes of a sweep label themselves.
            Scale::Logarithmic if self.unit == Unit::Count && values.len() <= MOST_TICKS => {
                apart(&values)
            }
            Scale::Logarithmic => logarithmic_ticks(first, last),
        };
        let low = wanted.first().copied().unwrap_or(first).min(first);
        let high = wanted.last().copied().unwrap_or(last).max(last);
        let mut placed = Placed { ticks: Vec::new(), scale: self.scale, low, high, start, end };
        placed.ticks = wanted.iter().map(|&v| (placed.at(v), self.unit.show(v))).collect();
        placed
    }

    fn can_show(&self, value: f64) -> bool {
        value.is_finite() && (self.scale == Scale::Linear || value > 0.0)
    }
}

impl Placed {
    /// Where a value lies on the paper.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let share = match self.scale {
            Scale::Linear => (value - self.low) / (self.high - self.low),
            Scale::Logarithmic => {
                (value.max(self.low) / self.low).ln() / (self.high / self.low).ln()
            }
        };
        self.start + share.clamp(0.0, 1.0) * (self.end - self.start)
    }
}

fn linear_ticks(last: f64) -> Vec<f64> {
    let rough = last / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|s| s * power).into_iter().find(|s| *s >= rough);
    let step = step.unwrap_or(power * 10.0);
    (0..=(last / step).ceil() as usize).map(|i| i as f64 * step).collect()
}

/// Powers of ten around the values; 1, 2 and 5 times them where the values span little.
fn logarithmic_ticks(first: f64, last: f64) -> Vec<f64> {
    let (low, high) = (first.log10().floor() as i32, last.log10().ceil() as i32);
    let steps: &[f64] = if high - low <= 2 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let all: Vec<f64> = (low..=high)
        .flat_map(|power| steps.iter().map(move |step| step * 10f64.powi(power)))
        .collect();
    let from = all.iter().rposition(|t| *t <= first * 1.000_001).unwrap_or(0);
    let to = all.iter().position(|t| *t >= last * 0.999_999).unwrap_or(all.len() - 1);
    all[from..=to.max(from)].to_vec()
}

/// Values that are at least half as large again as the one before, so that labels have room.
fn apart(values: &[f64]) -> Vec<f64> {
    let mut kept: Vec<f64> = Vec::new();
    for &value in values {
        if kept.last().is_none_or(|last| value >= last * 1.15) {
            kept.push(value);
        }
    }
    kept
}

impl Unit {
    /// A value with its unit.
    pub(crate) fn show(self, value: f64) -> String {
        match self {
            Unit::Count => count(value),
            Unit::Seconds => seconds(value),
            Unit::Bytes => bytes(value),
            Unit::Percent => format!("{value:.0} %"),
        }
    }
}

/// A count with K for 1,024 and M for 1,048,576 where it is a multiple, else in thousands.
pub(crate) fn count(value: f64) -> String {
    let whole = value.round() as u64;
    let binary = [(1 << 20, "M"), (1 << 10, "K")];
    for (size, letter) in binary {
        if whole >= size && whole.is_multiple_of(size) {
            return format!("{}{letter}", whole / size);
        }
    }
    match whole {
        0..10_000 => whole.to_string(),
        _ if whole.is_multiple_of(1000) => format!("{},000", whole / 1000),
        _ => whole.to_string(),
    }
}

/// Seconds with the unit that gives about three digits.
pub(crate) fn seconds(value: f64) -> String {
    let digits = |v: f64| if v < 9.95 && v.fract() > 1e-9 { 1 } else { 0 };
    match value {
        v if v < 1e-3 => format!("{:.*} µs", digits(v * 1e6), v * 1e6),
        v if v < 1.0 => format!("{:.*} ms", digits(v * 1e3), v * 1e3),
        v if v < 10.0 && v.fract() > 1e-9 => format!("{v:.2} s"),
        v => format!("{v:.*} s", digits(v)),
    }
}

/// Bytes in decimal megabytes or gigabytes.
pub(crate) fn bytes(value: f64) -> String {
    match value {
        v if v < 1e6 => format!("{:.0} KB", v / 1e3),
        v if v < 1e9 => format!("{:.0} MB", v / 1e6),
        v => format!("{:.*} GB", usize::from(v < 1e10 && v % 1e9 > 1e6), v / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_with_their_units() {
        assert_eq!(Unit::Count.show(65_536.0), "64K");
        assert_eq!(Unit::Count.show(100_000.0), "100,000");
        assert_eq!(Unit::Count.show(1_048_576.0), "1M");
        assert_eq!(Unit::Count.show(500.0), "500");
        assert_eq!(Unit::Seconds.show(0.0125), "12 ms");
        assert_eq!(Unit::Seconds.show(0.001), "1 ms");
        assert_eq!(Unit::Seconds.show(1.5), "1.50 s");
        assert_eq!(Unit::Bytes.show(1.5e9), "1.5 GB");
    }

    #[test]
    fn a_logarithmic_axis_spaces_by_ratio() {
        let axis = Axis::new("n", Scale::Logarithmic, Unit::Count);
        let placed = axis.place([1.0, 10.0, 100.0].into_iter(), 0.0, 200.0);
        assert!((placed.at(10.0) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn an_axis_without_values_can_be_drawn() {
        for scale in [Scale::Linear, Scale::Logarithmic] {
            let placed = Axis::new("n", scale, Unit::Seconds).place([].into_iter(), 0.0, 1.0);
            assert!(placed.ticks.iter().all(|t| t.0.is_finite()));
        }
    }
}
