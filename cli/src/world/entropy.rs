//! Entropy values on the command line.

use sim_world::EntropyPlan;

/// Largest distance of generated values, as a power of two.
const MOST_STRIDE_LOG2: u32 = 24;

/// Parses `FIRST+STEP`, or a list of values. Which of them paths can have depends on the other options.
pub fn parse(text: &str) -> Result<EntropyPlan, String> {
    let Some((first, step)) = text.split_once('+') else {
        let values = text.split(',').map(value).collect::<Result<_, _>>()?;
        return Ok(EntropyPlan::Explicit(values));
    };
    let (base, step) = (value(first)?, value(step)?);
    if !step.is_power_of_two() || step.ilog2() > MOST_STRIDE_LOG2 {
        let most = 1 << MOST_STRIDE_LOG2;
        return Err(format!(
            "a step of {step}; use a power of two from 1 to {most}"
        ));
    }
    Ok(EntropyPlan::Generated {
        base,
        stride_log2: step.ilog2() as u8,
    })
}

fn value(text: &str) -> Result<u32, String> {
    let parsed = match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    };
    parsed.map_err(|_| {
        format!(
            "{text:?} is no entropy value; write numbers up to 4294967295, like 49152 or 0xc000"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_and_equal_distances_are_told_apart() {
        let explicit = EntropyPlan::Explicit(vec![0x4000, 17]);
        assert_eq!(parse("0x4000,17"), Ok(explicit));
        assert_eq!(parse("9"), Ok(EntropyPlan::Explicit(vec![9])));
        let generated = EntropyPlan::Generated {
            base: 0x4000,
            stride_log2: 4,
        };
        assert_eq!(parse("0x4000+16"), Ok(generated));
        assert_eq!(parse("0xc000+1"), Ok(EntropyPlan::default()));
    }

    #[test]
    fn what_is_no_value_is_named() {
        for (text, part) in [
            ("0xc000,spine3", "\"spine3\" is no entropy value"),
            ("", "\"\" is no entropy value"),
            ("1,,2", "\"\" is no entropy value"),
            ("-1", "\"-1\" is no entropy value"),
            ("0x100000000", "\"0x100000000\" is no entropy value"),
            ("0xc000+3", "a step of 3; use a power of two"),
            ("0xc000+0", "a step of 0; use a power of two"),
            ("0xc000+0x2000000", "1 to 16777216"),
            ("1+2+4", "\"2+4\" is no entropy value"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(part), "{error}");
        }
    }
}
