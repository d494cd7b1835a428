//! The types of declarations are those of the checker: for every place of every protocol here, of
//! every hostile model of the abstraction, and of random programs.
//!
//! Transformations ask for types of expressions that they have just made, which have no place in the
//! source and which no checker has seen. So declared types are found from declarations alone; that
//! this is what the checker finds is tried out here, where an expression is known to both by its
//! place in the source.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::ast::{Expression, Program, Statement, StatementKind, TypeExpression, TypeKind};
use crate::check::{Options, check};
use crate::ir::{self, Model, Place, Simple, TypeId};
use crate::parse::parse;
use crate::print::print_expression;
use crate::source::{Source, Span};
use crate::transform::{
    Declarations, Scope, bind, bind_variables, bodies, flatten_all, is_place, names_apart,
    own_expressions, parts,
};
use crate::walk::{self, Visitor};

/// The types that the checker found for places, by where they are written.
#[derive(Default)]
struct Found(HashMap<Span, Vec<TypeId>>);

impl Visitor for Found {
    fn place(&mut self, place: &Place) {
        self.0.entry(place.span).or_default().push(place.ty);
    }
}

impl Found {
    fn of(model: &Model) -> Found {
        let mut found = Found::default();
        for rule in model.rules.iter().chain(&model.start_states) {
            walk::parameters(&rule.parameters, &mut found);
            rule.guard.iter().for_each(|guard| walk::expression(guard, &mut found));
            walk::statements(&rule.body, &mut found);
        }
        for property in &model.properties {
            walk::expression(&property.condition, &mut found);
        }
        found
    }
}

/// A program as the checker and as its declarations see it.
struct Both<'a> {
    model: &'a Model,
    declarations: &'a Declarations,
    found: &'a Found,
    /// How many types were the same, and where they were not.
    same: usize,
    different: Vec<String>,
}

impl Both<'_> {
    fn statements(&mut self, scope: &Scope, statements: &[Statement]) {
        for statement in statements {
            // What an alias stands for is written out before its types are asked for.
            if matches!(statement.kind, StatementKind::Alias { .. }) {
                continue;
            }
            own_expressions(statement).into_iter().for_each(|own| self.expression(scope, own));
            let mut inner = scope.clone();
            if let StatementKind::For { quantifiers, .. } = &statement.kind {
                bind(&mut inner, quantifiers);
            }
            bodies(statement).into_iter().for_each(|body| self.statements(&inner, body));
        }
    }

    fn expression(&mut self, scope: &Scope, whole: &Expression) {
        let mut inner = scope.clone();
        if let crate::ast::ExpressionKind::Quantified { quantifiers, .. } = &whole.kind {
            bind(&mut inner, quantifiers);
        }
        if is_place(whole)
            && let Some(by_checker) = self.found.0.get(&whole.span)
            && let Some(declared) = self.declarations.of(scope, whole)
        {
            match by_checker.iter().any(|found| self.agree(&declared, *found)) {
                true => self.same += 1,
                false => self.different.push(format!(
                    "{} is {declared:?} by its declaration, {:?} by the checker",
                    print_expression(whole),
                    by_checker.iter().map(|found| self.model.kind(*found)).collect::<Vec<_>>()
                )),
            }
        }
        parts(whole).into_iter().for_each(|part| self.expression(&inner, part));
    }

    fn agree(&self, declared: &TypeExpression, found: TypeId) -> bool {
        let both = |declared: &TypeExpression, found: &TypeId| self.agree(declared, *found);
        match (&self.declarations.resolve(declared).kind, self.model.kind(found)) {
            (TypeKind::Named(name), ir::TypeKind::Simple(Simple::Boolean)) => {
                name.text == "boolean"
            }
            // The variable of a loop from one number to another is any number to the checker.
            (TypeKind::Range(..), ir::TypeKind::Simple(Simple::Range { .. } | Simple::Integer)) => {
                true
            }
            (TypeKind::Enumeration(members), ir::TypeKind::Simple(Simple::Enumeration(found))) => {
                members.iter().map(|member| &member.text).eq(found)
            }
            // Two of the same size are different types.
            (TypeKind::Scalarset(_), ir::TypeKind::Simple(Simple::Scalarset(_))) => {
                match (&declared.kind, &self.model.types[found.0 as usize].name) {
                    (TypeKind::Named(name), Some(found)) => self.is_same_type(&name.text, found),
                    _ => true,
                }
            }
            (TypeKind::Union(members), ir::TypeKind::Simple(Simple::Union(found))) => {
                members.len() == found.len() && members.iter().zip(found).all(|(l, r)| both(l, r))
            }
            (TypeKind::Record(_), ir::TypeKind::Record(found)) => {
                let fields = self.declarations.fields(declared).unwrap_or_default();
                fields.len() == found.len()
                    && fields
                        .iter()
                        .zip(found)
                        .all(|((name, ty), found)| *name == found.name && both(ty, &found.ty))
            }
            (
                TypeKind::Array { index, element },
                ir::TypeKind::Array { index: at, element: of },
            ) => both(index, at) && both(element, of),
            (TypeKind::Multiset { element, .. }, ir::TypeKind::Multiset { element: of, .. }) => {
                both(element, of)
            }
            _ => false,
        }
    }

    /// Whether two names are of one scalarset: one may be declared as the other.
    fn is_same_type(&self, declared: &str, found: &str) -> bool {
        declared == found
            || match self.declarations.definition(declared).map(|ty| &ty.kind) {
                Some(TypeKind::Named(next)) => self.is_same_type(&next.text, found),
                _ => false,
            }
    }
}

/// How many places have the same type for both; what has not. `None` if it is no program.
fn compared(name: &str, text: String) -> Option<(usize, Vec<String>)> {
    let source = Source { name: name.to_owned(), text };
    let program: Program = parse(&source).0?;
    let model = check(&program, Arc::new(source), &Options::default()).ok()?.model;
    let declarations = Declarations::new(&program, "");
    let mut flattened = flatten_all(&program).ok()?;
    names_apart(&mut flattened, &declarations, &[]);
    let found = Found::of(&model);
    let (same, different) = (0, Vec::new());
    let mut both =
        Both { model: &model, declarations: &declarations, found: &found, same, different };
    let rules = flattened.rules.iter().map(|rule| (&rule.quantifiers, &rule.guard, &rule.body));
    let starts = flattened.start_states.iter();
    let starts = starts.map(|start| (&start.quantifiers, &None, &start.item.1));
    for (quantifiers, guard, body) in rules.chain(starts) {
        let mut scope = Scope::new();
        bind(&mut scope, quantifiers);
        guard.iter().for_each(|guard| both.expression(&scope, guard));
        bind_variables(&mut scope, &body.declarations);
        both.statements(&scope, &body.statements);
    }
    for property in &flattened.properties {
        let mut scope = Scope::new();
        bind(&mut scope, &property.quantifiers);
        both.expression(&scope, &property.item.condition);
    }
    Some((both.same, both.different))
}

fn models_in(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = std::fs::read_dir(folder).expect("the folder is there");
    let paths = files.map(|file| file.expect("it can be listed").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "m")).collect()
}

#[test]
fn declared_types_are_those_of_the_checker_in_every_model_here() {
    let folders = ["../../protocols", "../../protocols/broken"];
    let hostile = "../abstraction/tests/soundness/hostile";
    let (mut same, mut models) = (0, 0);
    for path in folders.into_iter().chain([hostile]).flat_map(models_in) {
        let text = std::fs::read_to_string(&path).expect("it is a text");
        let Some((agreed, different)) = compared("model.m", text) else { continue };
        assert!(different.is_empty(), "{}: {}", path.display(), different.join("\n"));
        same += agreed;
        models += 1;
    }
    assert!(models > 100, "only {models} were compared");
    assert!(same > 10_000, "only {same} places were compared");
}

#[test]
fn declared_types_are_those_of_the_checker_in_random_programs() {
    let mut same = 0;
    for seed in 0..200 {
        let text = crate::random::source(seed);
        let Some((agreed, different)) = compared("random.m", text.clone()) else { continue };
        assert!(different.is_empty(), "seed {seed}: {}\n{text}", different.join("\n"));
        same += agreed;
    }
    assert!(same > 2_000, "only {same} places were compared");
}

/// The comparison sees a difference where there is one.
#[test]
fn a_wrong_declaration_is_noticed() {
    let text = "type P: scalarset(2); Q: scalarset(2); var a: array [P] of boolean; n: 0..3; p: P;
                startstate begin n := 0; end; rule begin n := 1; end; invariant \"x\" n = 0 | a[p];";
    let wrong = text.replace("p: P;", "p: Q;").replace("n: 0..3", "n: boolean");
    let source = |text: &str| Source { name: "x.m".into(), text: text.into() };
    let program = parse(&source(text)).0.expect("it is Murphi");
    let checked = check(&program, Arc::new(source(text)), &Options::default());
    let model = checked.expect("it is right").model;
    let declarations = Declarations::new(&parse(&source(&wrong)).0.expect("it is Murphi"), "");
    let flattened = flatten_all(&program).expect("it is flat");
    let found = Found::of(&model);
    let (same, different) = (0, Vec::new());
    let mut both =
        Both { model: &model, declarations: &declarations, found: &found, same, different };
    both.expression(&Scope::new(), &flattened.properties[0].item.condition);
    assert_eq!(both.same, 1, "only a[p] is as declared");
    assert_eq!(both.different.len(), 2, "{:?}", both.different);
}
