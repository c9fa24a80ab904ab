//! Hardware `if` and `case`.
use rust_hdl_core::ast::{
    VerilogBlock, VerilogBlockOrConditional, VerilogCase, VerilogConditional, VerilogExpression,
    VerilogMatch, VerilogStatement,
};

/// `if (test) then else otherwise`; an else-block that is nothing but another `if` becomes `else if`.
pub fn conditional(
    test: VerilogExpression,
    then: VerilogBlock,
    mut otherwise: VerilogBlock,
) -> VerilogStatement {
    let otherwise = match otherwise.as_slice() {
        [] => VerilogBlockOrConditional::None,
        [VerilogStatement::If(_)] => {
            VerilogBlockOrConditional::Conditional(Box::new(otherwise.remove(0)))
        }
        _ => VerilogBlockOrConditional::Block(otherwise),
    };
    VerilogStatement::If(VerilogConditional {
        test,
        then,
        otherwise,
    })
}

/// One arm of a `match`: the labels of its alternatives (`A | B`) and its body.
pub struct SelectArm {
    /// `State::Idle`, a literal, or `default`.
    pub labels: Vec<String>,
    /// What the arm does.
    pub block: VerilogBlock,
}

/// `case (test) ...`; an arm with several labels is repeated for each.
pub fn select(test: VerilogExpression, arms: Vec<SelectArm>) -> VerilogStatement {
    let cases = arms
        .into_iter()
        .flat_map(|arm| {
            let block = arm.block;
            arm.labels.into_iter().map(move |condition| VerilogCase {
                condition,
                block: block.clone(),
            })
        })
        .collect();
    VerilogStatement::Match(VerilogMatch { test, cases })
}
