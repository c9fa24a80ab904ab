//! Values as strings of bits.

use thiserror::Error;

/// A string that is not a value.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ValueError {
    /// A character other than the nine of IEEE 1164.
    #[error("{0:?} is no logic value: use 0, 1, X, Z, U, W, L, H or -")]
    Character(char),
    /// A number of characters that differs from the number of bits.
    #[error("{given} bits for a signal of {width}")]
    Length {
        /// Characters given.
        given: usize,
        /// Bits of the signal.
        width: usize,
    },
}

/// The low `width` bits of `words` (32 bits each, lowest first), most significant first.
pub fn bit_string(words: &[u32], width: usize) -> String {
    (0..width)
        .rev()
        .map(|bit| {
            if words[bit / 32] >> (bit % 32) & 1 == 1 {
                '1'
            } else {
                '0'
            }
        })
        .collect()
}

/// The words of a string of `width` logic values, most significant first. A model has two values: `H` counts as 1, and `X`, `Z`, `U`, `W`,
/// `L` and `-` as 0.
///
/// # Errors
/// [`ValueError`].
pub fn parse_bits(text: &str, width: usize) -> Result<Vec<u32>, ValueError> {
    let given = text.chars().count();
    if given != width {
        return Err(ValueError::Length { given, width });
    }
    let mut words = vec![0; width.div_ceil(32)];
    for (bit, character) in text.chars().rev().enumerate() {
        match character {
            '1' | 'H' | 'h' => words[bit / 32] |= 1 << (bit % 32),
            '0' | 'L' | 'l' | 'X' | 'x' | 'Z' | 'z' | 'U' | 'u' | 'W' | 'w' | '-' => {}
            other => return Err(ValueError::Character(other)),
        }
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_value_survives_the_way_through_its_string(words in prop::collection::vec(any::<u32>(), 1..8), cut in 0usize..32) {
            let width = words.len() * 32 - cut;
            let text = bit_string(&words, width);
            let mut expected = words.clone();
            *expected.last_mut().unwrap() &= u32::MAX >> cut;
            prop_assert_eq!(parse_bits(&text, width).unwrap(), expected);
        }
    }

    #[test]
    fn undefined_values_become_zero_and_others_are_refused() {
        assert_eq!(parse_bits("1XZ0H-", 6), Ok(vec![0b100010]));
        assert_eq!(parse_bits("12", 2), Err(ValueError::Character('2')));
        assert_eq!(
            parse_bits("101", 2),
            Err(ValueError::Length { given: 3, width: 2 })
        );
    }
}
