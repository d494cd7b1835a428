//! Operators on integers. Overflow is a run-time error, looked for only where the bounds of the
//! operands allow it.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use murphi::ir::Operator;

use super::Translator;
use super::operand::{Bounds, Operand};

/// A condition that may be known before the run.
#[derive(Clone, Copy)]
pub(super) enum TruthValue {
    Known(bool),
    /// Not 0 if it holds.
    Computed(Value),
}

impl Translator<'_, '_> {
    /// The result of an arithmetic operator.
    pub(super) fn arithmetic(&mut self, operator: Operator, a: Operand, b: Operand) -> Operand {
        match operator {
            Operator::Add => self.add(a, b),
            Operator::Subtract => self.subtract(a, b),
            Operator::Multiply => self.multiply(a, b),
            Operator::Divide => self.divide(a, b),
            Operator::Remainder => self.remainder(a, b),
            Operator::BitAnd | Operator::BitOr | Operator::BitXor => self.bitwise(operator, a, b),
            Operator::ShiftLeft => self.shift(a, b, true),
            Operator::ShiftRight => self.shift(a, b, false),
            _ => {
                let truth = self.compare(operator, a, b);
                self.truth_operand(truth)
            }
        }
    }

    fn add(&mut self, a: Operand, b: Operand) -> Operand {
        let low = i128::from(a.bounds.low) + i128::from(b.bounds.low);
        let high = i128::from(a.bounds.high) + i128::from(b.bounds.high);
        match (Bounds::exact(low, high), a.known(), b.known()) {
            (Some(bounds), _, Some(constant)) => a.plus(constant, bounds),
            (Some(bounds), Some(constant), _) => b.plus(constant, bounds),
            (exact, _, _) => {
                let (x, y) = (self.number(a), self.number(b));
                let sum = self.builder.ins().iadd(x, y);
                if exact.is_none() {
                    let x_differs = self.builder.ins().bxor(x, sum);
                    let y_differs = self.builder.ins().bxor(y, sum);
                    self.fail_if_both_negative(x_differs, y_differs);
                }
                Operand::register(sum, Bounds::clamped(low, high))
            }
        }
    }

    fn subtract(&mut self, a: Operand, b: Operand) -> Operand {
        let low = i128::from(a.bounds.low) - i128::from(b.bounds.high);
        let high = i128::from(a.bounds.high) - i128::from(b.bounds.low);
        match (Bounds::exact(low, high), b.known()) {
            (Some(bounds), Some(constant)) => a.plus(constant.wrapping_neg(), bounds),
            (exact, _) => {
                let (x, y) = (self.number(a), self.number(b));
                let difference = self.builder.ins().isub(x, y);
                if exact.is_none() {
                    let operands_differ = self.builder.ins().bxor(x, y);
                    let result_differs = self.builder.ins().bxor(x, difference);
                    self.fail_if_both_negative(operands_differ, result_differs);
                }
                Operand::register(difference, Bounds::clamped(low, high))
            }
        }
    }

    fn fail_if_both_negative(&mut self, a: Value, b: Value) {
        let both = self.builder.ins().band(a, b);
        let overflow = self.builder.ins().icmp_imm_s(IntCC::SignedLessThan, both, 0);
        self.fail_if(overflow);
    }

    fn multiply(&mut self, a: Operand, b: Operand) -> Operand {
        let ends = |bounds: Bounds| [i128::from(bounds.low), i128::from(bounds.high)];
        let products = ends(a.bounds).into_iter().flat_map(|x| ends(b.bounds).map(|y| x * y));
        let (low, high) =
            products.fold((i128::MAX, i128::MIN), |(low, high), x| (low.min(x), high.max(x)));
        let (x, y) = (self.number(a), self.number(b));
        let product = self.builder.ins().imul(x, y);
        if Bounds::exact(low, high).is_none() {
            let upper = self.builder.ins().smulhi(x, y);
            let sign = self.builder.ins().sshr_imm_u(product, 63);
            let overflow = self.builder.ins().icmp(IntCC::NotEqual, upper, sign);
            self.fail_if(overflow);
        }
        Operand::register(product, Bounds::clamped(low, high))
    }

    /// Leaves with a run-time error if the divisor is 0; then a divisor that never traps.
    fn divisor(&mut self, b: Operand) -> Value {
        let divisor = self.number(b);
        if b.bounds.contains(0) {
            let none = self.is_zero(divisor);
            self.fail_if(none);
        }
        divisor
    }

    fn divide(&mut self, a: Operand, b: Operand) -> Operand {
        let divisor = self.divisor(b);
        let dividend = self.number(a);
        if a.bounds.contains(i64::MIN) && b.bounds.contains(-1) {
            let least = self.builder.ins().icmp_imm_s(IntCC::Equal, dividend, i64::MIN);
            let negates = self.builder.ins().icmp_imm_s(IntCC::Equal, divisor, -1);
            let overflow = self.builder.ins().band(least, negates);
            self.fail_if(overflow);
        }
        let quotient = self.builder.ins().sdiv(dividend, divisor);
        let bounds = match b.known() {
            Some(divisor) if divisor > 0 => {
                Bounds::new(a.bounds.low / divisor, a.bounds.high / divisor)
            }
            _ => {
                let largest = magnitude(a.bounds);
                Bounds::clamped(-largest, largest)
            }
        };
        Operand::register(quotient, bounds)
    }

    fn remainder(&mut self, a: Operand, b: Operand) -> Operand {
        let mut divisor = self.divisor(b);
        let dividend = self.number(a);
        if b.bounds.contains(-1) {
            // The remainder by -1 is that by 1, whose quotient always fits.
            let negates = self.builder.ins().icmp_imm_s(IntCC::Equal, divisor, -1);
            let one = self.constant(1);
            divisor = self.builder.ins().select(negates, one, divisor);
        }
        let remainder = self.builder.ins().srem(dividend, divisor);
        let largest = (magnitude(b.bounds) - 1).min(magnitude(a.bounds)).max(0);
        let low = if a.bounds.low < 0 { -largest } else { 0 };
        let high = if a.bounds.high > 0 { largest } else { 0 };
        Operand::register(remainder, Bounds::clamped(low, high))
    }

    fn bitwise(&mut self, operator: Operator, a: Operand, b: Operand) -> Operand {
        let (x, y) = (self.number(a), self.number(b));
        let result = match operator {
            Operator::BitAnd => self.builder.ins().band(x, y),
            Operator::BitOr => self.builder.ins().bor(x, y),
            _ => self.builder.ins().bxor(x, y),
        };
        let bounds = match a.bounds.low >= 0 && b.bounds.low >= 0 {
            true => {
                let high = (a.bounds.high | b.bounds.high) as u64;
                let all_ones = u64::MAX.checked_shr(high.leading_zeros()).unwrap_or(0);
                Bounds::new(0, all_ones as i64)
            }
            false => Bounds::ALL,
        };
        Operand::register(result, bounds)
    }

    /// Shifts left or, with a negative distance, right, or the reverse; keeping the sign. Beyond
    /// the width nothing remains.
    fn shift(&mut self, a: Operand, b: Operand, left: bool) -> Operand {
        let (value, by) = (self.number(a), self.number(b));
        let back = self.builder.ins().ineg(by);
        let (left_by, right_by) = if left { (by, back) } else { (back, by) };
        let up = self.builder.ins().ishl(value, left_by);
        let down = self.builder.ins().sshr(value, right_by);
        let zero = self.constant(0);
        let is_left = self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, left_by, 64);
        let is_right = self.builder.ins().icmp_imm_s(IntCC::UnsignedLessThan, right_by, 64);
        let downward = self.builder.ins().select(is_right, down, zero);
        let result = self.builder.ins().select(is_left, up, downward);
        Operand::register(result, Bounds::ALL)
    }

    pub(super) fn negate(&mut self, a: Operand) -> Operand {
        self.subtract(Operand::constant(0), a)
    }

    pub(super) fn complement(&mut self, a: Operand) -> Operand {
        let value = self.number(a);
        let result = self.builder.ins().bnot(value);
        Operand::register(result, Bounds::new(!a.bounds.high, !a.bounds.low))
    }

    /// The truth of a comparison.
    pub(super) fn compare(&mut self, operator: Operator, a: Operand, b: Operand) -> TruthValue {
        if let Some(known) = decided(operator, a.bounds, b.bounds) {
            return TruthValue::Known(known);
        }
        let condition = match operator {
            Operator::Equal => IntCC::Equal,
            Operator::NotEqual => IntCC::NotEqual,
            Operator::Less => IntCC::SignedLessThan,
            Operator::LessOrEqual => IntCC::SignedLessThanOrEqual,
            Operator::Greater => IntCC::SignedGreaterThan,
            Operator::GreaterOrEqual => IntCC::SignedGreaterThanOrEqual,
            operator => unreachable!("{operator:?} is not a comparison"),
        };
        let (x, y) = match (a.parts(), b.parts()) {
            // With the same bias registers compare like values, unless an order is asked for and
            // a register may have wrapped around.
            (Some((x, x_bias)), Some((y, y_bias))) if x_bias == y_bias && unwrapped(a, b) => (x, y),
            (Some((x, bias)), None) if unwrapped(a, b) => (x, self.shifted(b, bias.wrapping_neg())),
            (None, Some((y, bias))) if unwrapped(a, b) => (self.shifted(a, bias.wrapping_neg()), y),
            _ => (self.number(a), self.number(b)),
        };
        TruthValue::Computed(self.builder.ins().icmp(condition, x, y))
    }

    /// A truth as a value.
    pub(super) fn truth_operand(&mut self, truth: TruthValue) -> Operand {
        match truth {
            TruthValue::Known(known) => Operand::constant(i64::from(known)),
            TruthValue::Computed(value) => {
                let value = match self.builder.func.dfg.value_type(value) {
                    types::I64 => value,
                    _ => self.builder.ins().uextend(types::I64, value),
                };
                Operand::register(value, Bounds::TRUTH)
            }
        }
    }
}

/// Whether taking off the biases of both keeps everything in 64 bits.
fn unwrapped(a: Operand, b: Operand) -> bool {
    let bias = a.parts().or(b.parts()).map_or(0, |(_, bias)| i128::from(bias));
    [a, b].iter().all(|operand| {
        let Bounds { low, high } = operand.bounds;
        Bounds::exact(i128::from(low) - bias, i128::from(high) - bias).is_some()
    })
}

/// What a comparison gives for all values within these bounds, if that is always the same.
fn decided(operator: Operator, a: Bounds, b: Bounds) -> Option<bool> {
    let both = |yes: bool, no: bool| match (yes, no) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    };
    let apart = a.high < b.low || b.high < a.low;
    let one = a.low == a.high && a == b;
    match operator {
        Operator::Equal => both(one, apart),
        Operator::NotEqual => both(apart, one),
        Operator::Less => both(a.high < b.low, b.high <= a.low),
        Operator::LessOrEqual => both(a.high <= b.low, b.high < a.low),
        Operator::Greater => both(b.high < a.low, a.high <= b.low),
        Operator::GreaterOrEqual => both(b.high <= a.low, a.high < b.low),
        _ => None,
    }
}

fn magnitude(bounds: Bounds) -> i128 {
    i128::from(bounds.low).abs().max(i128::from(bounds.high).abs())
}
