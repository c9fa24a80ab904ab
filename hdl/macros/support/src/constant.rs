//! Values known at elaboration, as Verilog literals.
//!
//! `Constant(&value)` picks the right trait by auto-ref: plain integers are unsized (64-bit literals, or 128 where needed),
//! everything that implements [`Synth`] keeps its width, and enum values keep their name.
use rust_hdl_core::ast::{VerilogExpression, VerilogLiteral};
use rust_hdl_core::synth::Synth;
use rust_hdl_core::type_descriptor::TypeKind;

/// A value to be written as a literal; see [`IntegerConstant`] and [`SynthConstant`].
pub struct Constant<T>(pub T);

/// Literals of plain Rust integers: unsized, the width comes from where they are used.
pub trait IntegerConstant {
    /// The literal: 64 bits wide, 128 if the value needs it.
    ///
    /// # Panics
    /// If the value is negative: hardware vectors are unsigned.
    fn literal(&self) -> VerilogExpression;
    /// The label of a `case` item: the value in decimal.
    fn label(&self) -> String;
}

macro_rules! integer_constant {
    ($($int:ty),*) => {$(
        impl IntegerConstant for Constant<$int> {
            fn literal(&self) -> VerilogExpression {
                let value = u128::try_from(self.0).unwrap_or_else(|_| {
                    panic!("constant {} is negative; hardware vectors are unsigned: write its two's complement", self.0)
                });
                VerilogExpression::Literal(match u64::try_from(value) {
                    Ok(small) => VerilogLiteral::from(small),
                    Err(_) => VerilogLiteral::from(value),
                })
            }
            fn label(&self) -> String {
                self.0.to_string()
            }
        }
    )*};
}
integer_constant!(u8, u16, u32, u64, u128, usize, i32, i64);

/// Literals of hardware types: `Cast(Literal, BITS)`, or the name of an enum value.
pub trait SynthConstant {
    /// The literal, as wide as its type.
    fn literal(&self) -> VerilogExpression;
    /// The label of a `case` item: `State::Idle` for an enum, `4'hA` style otherwise.
    fn label(&self) -> String;
}

impl<T: Synth> SynthConstant for &Constant<T> {
    fn literal(&self) -> VerilogExpression {
        synth_literal(self.0)
    }
    fn label(&self) -> String {
        enum_name(self.0).unwrap_or_else(|| format!("{:x}", self.0.verilog()))
    }
}

/// The literal of a value of a hardware type, as wide as its type (enum values by name).
pub fn synth_literal<T: Synth>(value: T) -> VerilogExpression {
    match enum_name(value) {
        Some(name) => VerilogExpression::Signal(name),
        None => VerilogExpression::Cast(
            Box::new(VerilogExpression::Literal(value.verilog())),
            T::BITS,
        ),
    }
}

/// Returns the literal of `value`. The closure `_like` only gives its type and never runs.
pub fn typed_constant<T: Synth>(_like: impl FnOnce() -> T, value: T) -> VerilogExpression {
    synth_literal(value)
}

/// `State::Idle` for a value of an enum that derives `LogicState`; `None` for other types.
fn enum_name<T: Synth>(value: T) -> Option<String> {
    match T::descriptor().kind {
        TypeKind::Enum(names) => names.get(value.verilog().as_usize()).cloned(),
        _ => None,
    }
}
