//! Labels, the values in a row, and codes, which are labels before the names of members are removed.
//!
//! A label takes one byte, because a row distinguishes only what its own variables name: a constant, a
//! variable, or one of the few other members that occur. A code takes two bytes, with the members of all
//! scalarsets above the labels, so that every other code is already its label.

/// The label of a value in a row; see the constants below.
pub(crate) type Label = u8;

/// The term is undefined.
pub(crate) const UNDEFINED: Label = 0;
/// The constant with number n has the label `n + FIRST_CONSTANT`.
pub(crate) const FIRST_CONSTANT: Label = 1;
/// The value of variable n has the label `n + FIRST_VARIABLE`.
pub(crate) const FIRST_VARIABLE: Label = 120;
/// The first label of members that no variable has.
pub(crate) const FIRST_ELSEWHERE: Label = 160;
/// Some abstract processor.
pub(crate) const OTHER: Label = 254;
/// The value is unknown.
pub(crate) const UNKNOWN: Label = 255;

/// The number that stands for the processor known by name.
pub(crate) const NAMED_NUMBER: u64 = u64::MAX;

/// The most constants that have labels.
pub(crate) const MOST_CONSTANTS: usize = (FIRST_VARIABLE - FIRST_CONSTANT) as usize;
/// The most variables that have labels.
pub(crate) const MOST_VARIABLES: usize = (FIRST_ELSEWHERE - FIRST_VARIABLE) as usize;

/// A value before scalarset members are renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Raw {
    Undefined,
    Unknown,
    Constant(u8),
    /// A member of the scalarset with this number among those of [`Names`](super::meaning::Names).
    Member(u8, u64),
    Other,
}

/// A value before members are renamed, in two bytes: a label, or a member of a scalarset above all
/// labels.
pub(super) type Code = u16;

/// The code of `false`.
pub(super) const FALSE: Code = FIRST_CONSTANT as Code;

/// The code of the first member of the first scalarset.
const FIRST_MEMBER: Code = 256;

/// The largest number of members of a scalarset that have codes, including the processor known by
/// name.
const MOST_MEMBERS: u64 = 64;

impl Raw {
    /// The label of a value that is not a member of a scalarset.
    pub(crate) fn label(self) -> Label {
        Label::try_from(self.code()).unwrap_or(UNKNOWN)
    }

    pub(super) fn code(self) -> Code {
        match self {
            Raw::Undefined => UNDEFINED.into(),
            Raw::Unknown => UNKNOWN.into(),
            Raw::Other => OTHER.into(),
            Raw::Constant(number) => (FIRST_CONSTANT + number).into(),
            Raw::Member(set, value) => member(set, value),
        }
    }
}

/// The code of a member of a scalarset.
pub(super) fn member(set: u8, value: u64) -> Code {
    FIRST_MEMBER + Code::from(set) * MOST_MEMBERS as Code + value.min(MOST_MEMBERS - 1) as Code
}

/// The label of a member, in a row whose variables have the codes `met`.
pub(super) fn label_of_member(code: Code, met: &[Code], elsewhere: &mut Vec<Code>) -> Label {
    if let Some(variable) = met.iter().position(|variable| *variable == code) {
        return FIRST_VARIABLE + variable as Label;
    }
    let known = elsewhere.iter().position(|member| *member == code);
    let at = known.unwrap_or_else(|| {
        elsewhere.push(code);
        elsewhere.len() - 1
    });
    FIRST_ELSEWHERE.saturating_add(at.min(90) as Label)
}
