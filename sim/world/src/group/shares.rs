//! How evenly a resource is shared.

/// Jain's fairness index (Jain, Chiu and Hawe, DEC-TR-301, 1984): 1 if all have the same, 1/n if one of n has everything. `None` if there is nothing to
/// share.
pub fn jain(shares: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (mut count, mut sum, mut squares) = (0.0, 0.0, 0.0);
    for share in shares {
        count += 1.0;
        sum += share;
        squares += share * share;
    }
    (squares > 0.0).then(|| sum * sum / (count * squares))
}

#[cfg(test)]
mod tests {
    use super::jain;

    #[test]
    fn even_shares_have_one_and_one_of_n_has_one_nth() {
        assert_eq!(jain([3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain([0.0, 5.0, 0.0, 0.0]), Some(0.25));
        assert!((jain([1.0, 2.0, 3.0]).unwrap() - 36.0 / 42.0).abs() < 1e-12);
        assert_eq!(jain([0.0]), None);
    }
}
