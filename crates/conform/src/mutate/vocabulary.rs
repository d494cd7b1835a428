//! Records which constants of an enumeration a program assigns to which variables.
//!
//! A mutant assigns a constant that the program itself assigns to the same variable or field
//! somewhere (or passes as the same argument): other constants would be detected at once and show
//! nothing. Variables and fields are identified by their last name, whatever record or array they
//! belong to.

use std::collections::HashMap;

use murphi::ast::{
    Declaration, DeclarationKind, Expression, ExpressionKind, FunctionDefinition, Item, Name,
    Program, Rule, RuleKind, Statement, StatementKind, TypeExpression, TypeKind,
};

/// The target of a constant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Slot {
    /// A variable or field of this name.
    Place(String),
    /// The argument of this procedure at this position.
    Argument(String, usize),
}

/// An enumeration, by its number in the program; booleans are one, too.
type Enumeration = usize;

/// The constants of a program, by their targets.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    enumeration_of: HashMap<String, Enumeration>,
    enumerations: usize,
    /// In the order of the source.
    put: HashMap<(Slot, Enumeration), Vec<String>>,
}

impl Vocabulary {
    pub(super) fn of(program: &Program) -> Self {
        let mut vocabulary = Vocabulary::default();
        for word in ["true", "false"] {
            vocabulary.enumeration_of.insert(word.to_owned(), 0);
        }
        for item in &program.items {
            if let Item::Declaration(declaration) = item {
                vocabulary.declaration(declaration);
            }
        }
        for item in &program.items {
            match item {
                Item::Declaration(_) => {}
                Item::Function(function) => {
                    if let FunctionDefinition::Body(body) = &function.definition {
                        vocabulary.block(&body.statements);
                    }
                }
                Item::Rule(rule) => vocabulary.rule(rule),
            }
        }
        vocabulary
    }

    /// The other constants that the program assigns to the same target.
    pub(super) fn alternatives(&self, slot: Slot, value: &Expression) -> Vec<String> {
        let Some((word, enumeration)) = self.constant(value) else { return Vec::new() };
        let put = self.put.get(&(slot, enumeration)).map_or(&[][..], Vec::as_slice);
        put.iter().filter(|other| **other != word).cloned().collect()
    }

    fn constant(&self, value: &Expression) -> Option<(String, Enumeration)> {
        match &value.kind {
            ExpressionKind::Name(name) => {
                self.enumeration_of.get(name).map(|number| (name.clone(), *number))
            }
            _ => None,
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        match &declaration.kind {
            DeclarationKind::Constant { .. } => {}
            DeclarationKind::Type { definition, .. } => self.ty(definition),
            DeclarationKind::Variable(variables) => self.ty(&variables.ty),
        }
    }

    fn ty(&mut self, ty: &TypeExpression) {
        match &ty.kind {
            TypeKind::Enumeration(members) => self.members(members),
            TypeKind::Record(fields) => {
                for field in fields {
                    self.ty(&field.ty);
                }
            }
            TypeKind::Array { index, element } => {
                self.ty(index);
                self.ty(element);
            }
            TypeKind::Multiset { element, .. } => self.ty(element),
            TypeKind::Union(members) => {
                for member in members {
                    self.ty(member);
                }
            }
            TypeKind::Named(_)
            | TypeKind::Range(..)
            | TypeKind::Scalarset(_)
            | TypeKind::Real(..) => {}
        }
    }

    fn members(&mut self, members: &[Name]) {
        self.enumerations += 1;
        for member in members {
            self.enumeration_of.insert(member.text.clone(), self.enumerations);
        }
    }

    fn rule(&mut self, rule: &Rule) {
        match &rule.kind {
            RuleKind::StartState { body, .. } | RuleKind::Simple { body, .. } => {
                self.block(&body.statements);
            }
            RuleKind::Ruleset { rules, .. }
            | RuleKind::Alias { rules, .. }
            | RuleKind::Choose { rules, .. } => {
                for rule in rules {
                    self.rule(rule);
                }
            }
            RuleKind::Property(_) => {}
        }
    }

    fn block(&mut self, statements: &[Statement]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assign { target, value } => {
                if let Some(name) = last_name(target) {
                    self.puts(Slot::Place(name), value);
                }
            }
            StatementKind::Call(call) => {
                for (at, argument) in call.arguments.iter().enumerate() {
                    self.puts(Slot::Argument(call.name.text.clone(), at), argument);
                }
            }
            StatementKind::If { branches, otherwise } => {
                for branch in branches {
                    self.block(&branch.body);
                }
                self.block(otherwise.as_deref().unwrap_or_default());
            }
            StatementKind::Switch { cases, otherwise, .. } => {
                for case in cases {
                    self.block(&case.body);
                }
                self.block(otherwise.as_deref().unwrap_or_default());
            }
            StatementKind::For { body, .. }
            | StatementKind::While { body, .. }
            | StatementKind::Alias { body, .. } => self.block(body),
            _ => {}
        }
    }

    fn puts(&mut self, slot: Slot, value: &Expression) {
        if let Some((word, enumeration)) = self.constant(value) {
            let known = self.put.entry((slot, enumeration)).or_default();
            if !known.contains(&word) {
                known.push(word);
            }
        }
    }
}

/// The last name of a designator, without indices.
pub(super) fn last_name(place: &Expression) -> Option<String> {
    let mut place = place;
    loop {
        match &place.kind {
            ExpressionKind::Name(name) => return Some(name.clone()),
            ExpressionKind::Field(_, field) => return Some(field.text.clone()),
            ExpressionKind::Index(array, _) => place = array,
            _ => return None,
        }
    }
}
