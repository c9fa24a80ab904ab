//! Finds the C++ names of a specification's ports among the ports that Verilator declared.
//!
//! Verilator declares each top-level port in the model's header as `VL_IN8(&clk,0,0);` or `VL_OUTW(&data,1023,0,32);`. It changes names that C++ does
//! not allow, so the header has to be read to find them. This also catches a width or direction that differs from the specification, which would
//! corrupt memory later.

use std::collections::HashMap;

use crate::error::BuildError;
use crate::port::{Dir, Port};

struct Declaration {
    dir: Dir,
    width: usize,
}

/// Returns the C++ member names of `ports`, in the same order. `header` is the text of the header of `top`.
pub(crate) fn member_names(
    top: &str,
    ports: &[Port],
    header: &str,
) -> Result<Vec<String>, BuildError> {
    let declared: HashMap<&str, Declaration> = header.lines().filter_map(parse).collect();
    ports
        .iter()
        .map(|port| {
            let mismatch = |problem: String| BuildError::PortMismatch {
                top: top.to_owned(),
                port: port.name.clone(),
                problem,
            };
            let (name, found) = candidates(&port.name)
                .into_iter()
                .find_map(|name| {
                    declared
                        .get(name.as_str())
                        .map(|found| (name.clone(), found))
                })
                .ok_or_else(|| mismatch("the module has no such port".into()))?;
            if found.width != port.width {
                return Err(mismatch(format!(
                    "specified {} bits, the module has {}",
                    port.width, found.width
                )));
            }
            if found.dir != port.dir {
                return Err(mismatch(format!(
                    "specified {:?}, the module has {:?}",
                    port.dir, found.dir
                )));
            }
            Ok(name)
        })
        .collect()
}

/// Returns the C++ names that Verilator may give to a Verilog identifier: unchanged, with double underscores escaped, or marked because it is a C++
/// keyword.
fn candidates(name: &str) -> [String; 3] {
    [
        name.to_owned(),
        name.replace("__", "___05F"),
        format!("__SYM__{name}"),
    ]
}

/// Parses a declaration such as `VL_IN8(&name,msb,lsb);`.
fn parse(line: &str) -> Option<(&str, Declaration)> {
    let line = line.trim();
    let (dir, rest) = if let Some(rest) = line.strip_prefix("VL_IN") {
        (Dir::In, rest)
    } else {
        (Dir::Out, line.strip_prefix("VL_OUT")?)
    };
    let (_, arguments) = rest.split_once("(&")?;
    let mut arguments = arguments.split_once(')')?.0.split(',');
    let name = arguments.next()?;
    let msb: i64 = arguments.next()?.parse().ok()?;
    let lsb: i64 = arguments.next()?.parse().ok()?;
    let width = usize::try_from((msb - lsb).abs() + 1).ok()?;
    Some((name, Declaration { dir, width }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "    VL_IN8(&clk,0,0);
    VL_IN8(&a___05Fb,0,0);
    VL_IN8(&__SYM__new,0,0);
    VL_OUT16(&n_,8,0);
    VL_INW(&d,1023,0,32);
    // VL_INOUT
    VL_OUT64(&up,0,63);";

    #[test]
    fn names_that_cpp_cannot_take_are_found() {
        let ports = [
            Port::input("clk", 1),
            Port::input("a__b", 1),
            Port::input("new", 1),
            Port::input("d", 1024),
            Port::output("up", 64),
        ];
        let names = member_names("t", &ports, HEADER).unwrap();
        assert_eq!(names, ["clk", "a___05Fb", "__SYM__new", "d", "up"]);
    }

    #[test]
    fn wrong_width_direction_or_name_is_reported() {
        for (port, expected) in [
            (Port::input("d", 1023), "specified 1023 bits"),
            (Port::output("clk", 1), "specified Out"),
            (Port::input("reset", 1), "no such port"),
        ] {
            let error = member_names("t", &[port], HEADER).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
