//! Random places and expressions, as text.

use super::Random;
use super::types::{Kind, Ty, Types};

/// Something that can be named where the text is being written.
#[derive(Debug, Clone)]
pub(super) struct Variable {
    pub(super) text: String,
    pub(super) ty: Ty,
    /// Whether it may be assigned to.
    pub(super) writable: bool,
    /// Whether it is an element of a multiset, or a part of one.
    pub(super) in_multiset: bool,
}

/// What `choose` or a multiset operation has bound: usable to remove.
#[derive(Debug, Clone)]
pub(super) struct Position {
    pub(super) name: String,
    pub(super) multiset: String,
    /// The type of the multiset.
    pub(super) ty: Ty,
}

/// How often a function may be asked to call itself: once more than the limit of calls allows.
pub(super) const MOST_FURTHER_CALLS: usize = 3;

/// A function or procedure that can be called.
#[derive(Debug, Clone)]
pub(super) struct Function {
    pub(super) name: String,
    /// Types of the parameters, and whether each is `var`.
    pub(super) parameters: Vec<(Ty, bool)>,
    pub(super) result: Option<Ty>,
    /// Whether it changes nothing but its own locals.
    pub(super) pure: bool,
    /// Whether it calls itself, as often as its last parameter says, which is not among the others.
    pub(super) calls_itself: bool,
}

/// A place as text.
#[derive(Debug, Clone)]
pub(super) struct Place {
    pub(super) text: String,
    pub(super) ty: Ty,
}

/// Everything the writer knows at one point of the text.
pub(super) struct Writer {
    pub(super) random: Random,
    pub(super) types: Types,
    pub(super) variables: Vec<Variable>,
    pub(super) positions: Vec<Position>,
    pub(super) functions: Vec<Function>,
    /// Only functions without effects may be called: guards and properties.
    pub(super) only_pure: bool,
    /// Whether what was written can change anything but its own locals.
    pub(super) changed: bool,
    names: usize,
    /// How many indices deep the text being written is.
    indices: usize,
}

impl Writer {
    pub(super) fn new(mut random: Random) -> Self {
        let types = Types::random(&mut random);
        Writer {
            random,
            types,
            variables: Vec::new(),
            positions: Vec::new(),
            functions: Vec::new(),
            only_pure: false,
            changed: false,
            names: 0,
            indices: 0,
        }
    }

    pub(super) fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    /// Writes something within which more can be named; afterwards it is forgotten.
    pub(super) fn scoped<T>(&mut self, write: impl FnOnce(&mut Self) -> T) -> T {
        let (variables, positions) = (self.variables.len(), self.positions.len());
        let written = write(self);
        self.variables.truncate(variables);
        self.positions.truncate(positions);
        written
    }

    pub(super) fn declare(&mut self, text: String, ty: Ty, writable: bool) {
        self.variables.push(Variable { text, ty, writable, in_multiset: false });
    }

    /// Declares the position `name` of a multiset and the element there.
    pub(super) fn declare_position(&mut self, name: &str, multiset: &Place) {
        let Kind::Multiset { element, .. } = *self.types.kind(multiset.ty) else {
            return;
        };
        let ty = multiset.ty;
        let mut multisets = vec![multiset.text.clone()];
        if self.random.chance(10) {
            // Positions are of a type of multisets, so this is allowed too.
            multisets.extend(self.place_of(ty, true).map(|place| place.text));
        }
        for multiset in multisets {
            let text = format!("{multiset}[{name}]");
            self.variables.push(Variable { text, ty: element, writable: true, in_multiset: true });
            self.positions.push(Position { name: name.to_owned(), multiset, ty });
        }
    }

    /// A place whose type has a property.
    pub(super) fn place(
        &mut self,
        writable: bool,
        wanted: &dyn Fn(&Types, Ty) -> bool,
    ) -> Option<Place> {
        let fits = |types: &Types, ty: Ty| types.contains(ty, &|ty| wanted(types, ty));
        let candidates: Vec<Variable> = self
            .variables
            .iter()
            .filter(|variable| variable.writable || !writable)
            .filter(|variable| fits(&self.types, variable.ty))
            .cloned()
            .collect();
        // What was declared last is closest to what is being written about.
        let start = match self.random.chance(40) {
            true => candidates.len().saturating_sub(4),
            false => 0,
        };
        let variable = self.random.pick(&candidates[start..])?.clone();
        let Variable { mut text, mut ty, .. } = variable;
        while !wanted(&self.types, ty) || (self.random.chance(30) && self.leads_on(ty, &fits)) {
            match self.types.kind(ty).clone() {
                Kind::Record(fields) => {
                    let fields: Vec<_> =
                        fields.into_iter().filter(|&(_, ty)| fits(&self.types, ty)).collect();
                    let (name, field) = self.random.pick(&fields)?.clone();
                    text = format!("{text}.{name}");
                    ty = field;
                }
                Kind::Array { index, element } => {
                    let index = self.index(index)?;
                    text = format!("{text}[{index}]");
                    ty = element;
                }
                _ => return None,
            }
        }
        Some(Place { text, ty })
    }

    fn leads_on(&self, ty: Ty, fits: &dyn Fn(&Types, Ty) -> bool) -> bool {
        match self.types.kind(ty) {
            Kind::Record(fields) => fields.iter().any(|&(_, ty)| fits(&self.types, ty)),
            Kind::Array { element, .. } => fits(&self.types, *element),
            _ => false,
        }
    }

    pub(super) fn place_of(&mut self, ty: Ty, writable: bool) -> Option<Place> {
        self.place(writable, &move |_, candidate| candidate == ty)
    }

    fn index(&mut self, ty: Ty) -> Option<String> {
        // Mostly a value that surely fits, if there is one.
        let fitting = match self.literal(ty) {
            Some(literal) if self.random.chance(40) => Some(literal),
            literal => self.bound(ty).or(literal),
        };
        if self.indices == 2 || (fitting.is_some() && self.random.chance(90)) {
            return fitting;
        }
        self.indices += 1;
        let index = match self.types.is_number(ty) && self.random.chance(30) {
            true => Some(self.integer(1)),
            false => self.value(ty, 1),
        };
        self.indices -= 1;
        index
    }

    /// A constant of a type, if it has any that can be written.
    pub(super) fn literal(&mut self, ty: Ty) -> Option<String> {
        match self.types.kind(ty).clone() {
            Kind::Boolean => Some(["false", "true"][self.random.below(2)].to_owned()),
            Kind::Integer => Some(number(self.random.between(-2, 5))),
            Kind::Range { low, high } => {
                let value = match self.random.below(3) {
                    0 => low,
                    1 => high,
                    _ => self.random.between(low, high),
                };
                Some(number(value))
            }
            Kind::Enumeration(members) => self.random.pick(&members).cloned(),
            Kind::Union(members) => {
                let member = *self.random.pick(&members)?;
                self.literal(member)
            }
            _ => None,
        }
    }

    /// A bound variable of exactly this type: it is always defined and fits.
    pub(super) fn bound(&mut self, ty: Ty) -> Option<String> {
        let members = match self.types.kind(ty) {
            Kind::Union(members) => members.clone(),
            _ => Vec::new(),
        };
        let candidates: Vec<String> = self
            .variables
            .iter()
            .filter(|variable| !variable.writable && !variable.in_multiset)
            .filter(|variable| variable.ty == ty || members.contains(&variable.ty))
            .map(|variable| variable.text.clone())
            .collect();
        self.random.pick(&candidates).cloned()
    }

    /// An expression that can be assigned to a variable of a type, or `None` if there is none at
    /// hand.
    pub(super) fn value(&mut self, ty: Ty, depth: usize) -> Option<String> {
        match self.types.kind(ty).clone() {
            Kind::Boolean => Some(self.condition(depth)),
            Kind::Integer => Some(self.integer(depth)),
            Kind::Range { low, high } => Some(self.fitting(low, high, ty, depth)),
            _ => (0..4).find_map(|_| match self.random.below(12) {
                0 => self.related(ty),
                _ => self.comparable(ty, depth),
            }),
        }
    }

    /// An expression that can be compared with a variable of a type.
    pub(super) fn comparable(&mut self, ty: Ty, depth: usize) -> Option<String> {
        match self.random.below(6) {
            0 => self.literal(ty),
            1 => self.bound(ty),
            _ => self.exact(ty, depth),
        }
    }

    /// An expression of exactly this type.
    fn exact(&mut self, ty: Ty, depth: usize) -> Option<String> {
        let is_union = matches!(self.types.kind(ty), Kind::Union(_));
        match self.random.below(8) {
            0 if !is_union => self.literal(ty),
            1 if !is_union => self.bound(ty),
            2 if depth > 0 => self.call_of(ty, depth - 1),
            3 if depth > 0 => {
                let condition = self.condition(depth - 1);
                let yes = self.exact(ty, depth - 1)?;
                let no = self.exact(ty, depth - 1)?;
                Some(format!("({condition} ? {yes} : {no})"))
            }
            _ => self.place_of(ty, false).map(|place| place.text),
        }
    }

    /// A place of a union with values of this type, or of a member of this union.
    fn related(&mut self, ty: Ty) -> Option<String> {
        let members = |types: &Types, ty: Ty| match types.kind(ty) {
            Kind::Union(members) => members.clone(),
            Kind::Enumeration(_) | Kind::Scalarset(_) => vec![ty],
            _ => Vec::new(),
        };
        let mine = members(&self.types, ty);
        let shares = move |types: &Types, other: Ty| {
            members(types, other).iter().any(|member| mine.contains(member))
        };
        self.place(false, &shares).map(|place| place.text)
    }

    /// An integer that mostly fits into a range.
    fn fitting(&mut self, low: i64, high: i64, ty: Ty, depth: usize) -> String {
        let same = self.random.chance(45);
        if let Some(place) = same.then(|| self.place_of(ty, false)).flatten() {
            let text = place.text;
            return match self.random.below(4) {
                0 => format!("({text} < {} ? {text} + 1 : {text})", number(high)),
                1 => format!("({text} = {} ? {} : {text} - 1)", number(low), number(high)),
                _ => text,
            };
        }
        match self.random.below(20) {
            0 => self.integer(depth),
            1..3 if depth > 0 && low <= 0 && high > 0 => {
                let value = self.integer(depth - 1);
                let modulus = number(high.min((-low).max(1)));
                format!("({value} % {modulus})")
            }
            _ => self.literal(ty).unwrap_or_else(|| number(low)),
        }
    }

    /// Any integer.
    pub(super) fn integer(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.chance(35) {
            let place = self.place(false, &|types, ty| types.is_number(ty));
            return match place {
                Some(place) if self.random.chance(70) => place.text,
                _ => number(self.random.between(-3, 6)),
            };
        }
        let deeper = depth - 1;
        match self.random.below(16) {
            0 => format!("(-{})", self.integer(deeper)),
            1 => {
                let condition = self.condition(deeper);
                format!("({condition} ? {} : {})", self.integer(deeper), self.integer(deeper))
            }
            2 => {
                let operator = ["/", "%"][self.random.below(2)];
                let divisor = match self.random.chance(60) {
                    true => number([1, 2, 3, -1, -2][self.random.below(5)]),
                    false => self.integer(deeper),
                };
                format!("({} {operator} {divisor})", self.integer(deeper))
            }
            3 => self.count(deeper).unwrap_or_else(|| self.integer(deeper)),
            4 => {
                let ranges = self.types.such_that(|kind| matches!(kind, Kind::Range { .. }));
                let called = self.random.pick(&ranges).copied();
                called
                    .and_then(|ty| self.call_of(ty, deeper))
                    .unwrap_or_else(|| self.integer(deeper))
            }
            5 => {
                let operator = ["<<", ">>"][self.random.below(2)];
                let amount = match self.random.chance(70) {
                    true => number(self.random.between(-2, 6)),
                    false => self.integer(deeper),
                };
                format!("({} {operator} {amount})", self.integer(deeper))
            }
            6 => format!("(~{})", self.integer(deeper)),
            7 => format!("({} ^ {})", self.integer(deeper), self.integer(deeper)),
            number => {
                let operator = ["+", "-", "*"][number % 3];
                format!("({} {operator} {})", self.integer(deeper), self.integer(deeper))
            }
        }
    }

    fn count(&mut self, depth: usize) -> Option<String> {
        let multiset = self.multiset(false)?;
        let name = self.fresh("k");
        let condition = self.scoped(|writer| {
            writer.declare_position(&name, &multiset);
            writer.condition(depth)
        });
        Some(format!("MultisetCount({name}: {}, {condition})", multiset.text))
    }

    pub(super) fn multiset(&mut self, writable: bool) -> Option<Place> {
        self.place(writable, &|types, ty| matches!(types.kind(ty), Kind::Multiset { .. }))
    }

    /// A condition.
    pub(super) fn condition(&mut self, depth: usize) -> String {
        if depth == 0 || self.random.chance(15) {
            return self.plain_condition();
        }
        let deeper = depth - 1;
        let attempt = match self.random.below(16) {
            0 => Some(format!("(!{})", self.condition(deeper))),
            1 => {
                let condition = self.condition(deeper);
                Some(format!(
                    "({condition} ? {} : {})",
                    self.condition(deeper),
                    self.condition(deeper)
                ))
            }
            2 | 3 => self.quantified(deeper),
            4..8 => {
                let operator = ["&", "|", "->", "="][self.random.below(4)];
                Some(format!("({} {operator} {})", self.condition(deeper), self.condition(deeper)))
            }
            8 => self.call_of(Types::BOOLEAN, deeper),
            9 => self.same(deeper),
            10 => self.membership(),
            11 | 12 => self.equality(deeper),
            _ => Some(self.comparison(deeper)),
        };
        attempt.unwrap_or_else(|| self.plain_condition())
    }

    fn plain_condition(&mut self) -> String {
        let attempt = match self.random.below(6) {
            0 | 1 => self.place_of(Types::BOOLEAN, false).map(|place| place.text),
            2 => {
                let place = self.place(false, &|types, ty| types.is_simple(ty));
                let assignable = place.filter(|place| self.can_be_undefined(place));
                assignable.map(|place| format!("isundefined({})", place.text))
            }
            3 => self.equality(0),
            4 => Some(self.comparison(0)),
            _ => self.same_position(),
        };
        attempt.unwrap_or_else(|| ["true", "false", "true"][self.random.below(3)].to_owned())
    }

    /// Whether two positions of multisets are the same one.
    fn same_position(&mut self) -> Option<String> {
        let positions = self.positions.clone();
        let one = self.random.pick(&positions)?;
        let alike: Vec<_> = positions.iter().filter(|other| other.ty == one.ty).collect();
        let other = self.random.pick(&alike)?;
        let operator = ["=", "!="][self.random.below(2)];
        Some(format!("({} {operator} {})", one.name, other.name))
    }

    /// Whether a place is a variable or a part of one, rather than a bound value.
    fn can_be_undefined(&self, place: &Place) -> bool {
        let bound = |variable: &&Variable| variable.text == place.text;
        self.variables.iter().find(bound).is_none_or(|variable| variable.writable)
    }

    fn comparison(&mut self, depth: usize) -> String {
        let operator = ["<", "<=", ">", ">=", "=", "!="][self.random.below(6)];
        format!("({} {operator} {})", self.integer(depth), self.integer(depth))
    }

    fn equality(&mut self, depth: usize) -> Option<String> {
        let named = |kind: &Kind| {
            matches!(kind, Kind::Enumeration(_) | Kind::Scalarset(_) | Kind::Union(_))
        };
        let types = self.types.such_that(named);
        let ty = *self.random.pick(&types)?;
        let operator = ["=", "!="][self.random.below(2)];
        let left = self.place_of(ty, false)?.text;
        let right = self.comparable(ty, depth)?;
        Some(format!("({left} {operator} {right})"))
    }

    fn same(&mut self, depth: usize) -> Option<String> {
        let left = self.place(false, &|types, ty| !types.is_simple(ty))?;
        let operator = ["=", "!="][self.random.below(2)];
        let right = match self.random.chance(20) {
            true => self.call_of(left.ty, depth)?,
            false => self.place_of(left.ty, false)?.text,
        };
        Some(format!("({} {operator} {right})", left.text))
    }

    fn membership(&mut self) -> Option<String> {
        let place = self.place(false, &|types, ty| matches!(types.kind(ty), Kind::Union(_)))?;
        let Kind::Union(members) = self.types.kind(place.ty).clone() else {
            return None;
        };
        let member = *self.random.pick(&members)?;
        Some(format!("ismember({}, {})", place.text, self.types.name(member)))
    }

    fn quantified(&mut self, depth: usize) -> Option<String> {
        let quantifier = ["forall", "exists"][self.random.below(2)];
        let name = self.fresh("q");
        let domain = self.domain(&name, true)?;
        let (text, ty) = domain;
        let condition = self.scoped(|writer| {
            writer.declare(name, ty, false);
            writer.condition(depth)
        });
        Some(format!("({quantifier} {text} do {condition} end)"))
    }

    /// `x: T` or `x := a to b by c` and the type of `x`.
    pub(super) fn domain(&mut self, name: &str, ranges: bool) -> Option<(String, Ty)> {
        if ranges && self.random.chance(35) {
            return Some((self.range(name), Types::INTEGER));
        }
        let small: Vec<Ty> =
            self.types.all().into_iter().filter(|&ty| self.types.small(ty).is_some()).collect();
        let ty = *self.random.pick(&small)?;
        Some((format!("{name}: {}", self.types.name(ty)), ty))
    }

    fn range(&mut self, name: &str) -> String {
        let from = self.random.between(-2, 3);
        let to = from + self.random.between(-1, 4);
        match self.random.below(6) {
            0 => format!("{name} := {} to {} by 2", number(from), number(to)),
            1 => {
                format!("{name} := {} to {} by {}", number(from.max(to)), number(from), number(-1))
            }
            2 => {
                // Bounds that depend on the state, kept small so that loops are.
                let bound = self.integer(1);
                format!("{name} := {} to ({bound} % 4)", number(from))
            }
            _ => format!("{name} := {} to {}", number(from), number(to.max(from))),
        }
    }

    /// A call of a function with this result.
    fn call_of(&mut self, ty: Ty, depth: usize) -> Option<String> {
        let only_pure = self.only_pure;
        let candidates: Vec<Function> = self
            .functions
            .iter()
            .filter(|function| function.result == Some(ty))
            .filter(|function| function.pure || !only_pure)
            .cloned()
            .collect();
        let function = self.random.pick(&candidates)?.clone();
        self.call(&function, depth)
    }

    /// A call of this function.
    pub(super) fn call(&mut self, function: &Function, depth: usize) -> Option<String> {
        let further = self.random.below(MOST_FURTHER_CALLS + 1).to_string();
        self.call_with(function, &further, depth)
    }

    /// A call of this function, which calls itself as often as said, if it does.
    pub(super) fn call_with(
        &mut self,
        function: &Function,
        further: &str,
        depth: usize,
    ) -> Option<String> {
        let mut arguments = Vec::new();
        for &(ty, by_reference) in &function.parameters {
            let argument = match by_reference {
                true => self.place_of(ty, true).map(|place| place.text),
                false if self.random.chance(2) => Some("undefined".to_owned()),
                false => self.value(ty, depth.saturating_sub(1)),
            };
            arguments.push(argument);
        }
        let mut arguments = arguments.into_iter().collect::<Option<Vec<_>>>()?;
        arguments.extend(function.calls_itself.then(|| further.to_owned()));
        self.changed |= !function.pure;
        Some(format!("{}({})", function.name, arguments.join(", ")))
    }
}

/// A constant, so written that it can stand anywhere.
pub(super) fn number(value: i64) -> String {
    if value < 0 { format!("({value})") } else { value.to_string() }
}
