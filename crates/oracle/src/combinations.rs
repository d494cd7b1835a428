//! All combinations: what brute force is made of.

/// Every way to choose one of `counts[i]` things for each `i`. One way, the empty one, if there is
/// nothing to choose; no way if some count is 0.
pub(crate) fn combinations(counts: &[usize]) -> impl Iterator<Item = Vec<usize>> + use<> {
    let counts = counts.to_vec();
    let mut next = (!counts.contains(&0)).then(|| vec![0; counts.len()]);
    std::iter::from_fn(move || {
        let current = next.take()?;
        let mut successor = current.clone();
        for (place, digit) in successor.iter_mut().enumerate() {
            *digit += 1;
            if *digit < counts[place] {
                next = Some(successor);
                break;
            }
            *digit = 0;
        }
        Some(current)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_are_counted_like_an_odometer() {
        let all: Vec<_> = combinations(&[2, 1, 2]).collect();
        assert_eq!(all, [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]]);
        assert_eq!(combinations(&[]).count(), 1);
        assert_eq!(combinations(&[3, 0]).count(), 0);
    }
}
