//! The type of processors: which one it is, and how many there are.

use murphi::ast::{
    Declaration, DeclarationKind, Domain, Expression, ExpressionKind, Item, Program, Rule,
    RuleKind, TypeExpression, TypeKind,
};
use murphi::diagnostic::Diagnostic;
use murphi::source::Span;

/// The type of processors of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Processor {
    /// Its name.
    pub name: String,
    /// The constant that gives their number, if there is one.
    pub size: Option<String>,
    /// The constants in its declaration: nothing else may depend on them.
    pub depends_on: Vec<String>,
    /// Where it is declared.
    pub span: Span,
}

/// Finds the type of processors: the requested one, or else the first scalarset that is the index
/// of an array and the parameter of a rule.
pub fn find_processor(program: &Program, wanted: Option<&str>) -> Result<Processor, Diagnostic> {
    let found = found_processor(program, wanted)?;
    let is_alone = |item: &Item| match item {
        Item::Declaration(Declaration { kind: DeclarationKind::Type { names, .. }, .. }) => {
            names.len() == 1 || names.iter().all(|name| name.text != found.name)
        }
        _ => true,
    };
    if !program.items.iter().all(is_alone) {
        let message = format!("`{}` shares its declaration with another type", found.name);
        let help = "declare the type of processors on its own";
        return Err(Diagnostic::error(found.span, message).help(help));
    }
    Ok(found)
}

fn found_processor(program: &Program, wanted: Option<&str>) -> Result<Processor, Diagnostic> {
    let scalarsets = scalarsets(program);
    if let Some(wanted) = wanted {
        let declared: Vec<String> = scalarsets.iter().map(|found| found.name.clone()).collect();
        return scalarsets.into_iter().find(|found| found.name == wanted).ok_or_else(|| {
            let message = format!("`{wanted}` is not declared as a scalarset");
            let help = match &declared[..] {
                [] => "processors must be interchangeable: `type NAME: scalarset(N)`".to_owned(),
                names => format!("the scalarsets of the protocol are {}", names.join(", ")),
            };
            Diagnostic::error(place_of(program, wanted), message).help(help)
        });
    }
    let (indices, parameters) = (index_types(program), parameter_types(program));
    let is_used =
        |found: &Processor| indices.contains(&found.name) && parameters.contains(&found.name);
    scalarsets.into_iter().find(is_used).ok_or_else(|| {
        let message = "no type of processors found: no scalarset is both the index of an array \
                       and a parameter of a rule";
        Diagnostic::error(Span::default(), message).help(
            "declare processors as a `scalarset` and put their rules into a `ruleset`, or name \
             the type with --processors TYPE",
        )
    })
}

/// The program with another number of processors. [`find_processor`] must find this type in it.
pub fn with_processors(program: &Program, processor: &Processor, count: u64) -> Program {
    let mut program = program.clone();
    let number = i64::try_from(count).unwrap_or(i64::MAX);
    for item in &mut program.items {
        let Item::Declaration(Declaration { kind, .. }) = item else { continue };
        match kind {
            DeclarationKind::Constant { names, value }
                if names.iter().any(|name| Some(&name.text) == processor.size.as_ref()) =>
            {
                value.kind = ExpressionKind::Integer(number);
            }
            DeclarationKind::Type { names, definition: TypeExpression { kind, span } }
                if processor.size.is_none()
                    && names.iter().any(|name| name.text == processor.name) =>
            {
                let size = Expression { kind: ExpressionKind::Integer(number), span: *span };
                *kind = TypeKind::Scalarset(Box::new(size));
            }
            _ => {}
        }
    }
    program
}

/// All declared scalarsets, in the order of the source.
fn scalarsets(program: &Program) -> Vec<Processor> {
    let mut found = Vec::new();
    for item in &program.items {
        let Item::Declaration(Declaration { kind, span }) = item else { continue };
        let DeclarationKind::Type { names, definition } = kind else { continue };
        let TypeKind::Scalarset(size) = &definition.kind else { continue };
        let depends_on = murphi::transform::names(size);
        let size = match &size.kind {
            ExpressionKind::Name(constant) => Some(constant.clone()),
            _ => None,
        };
        for name in names {
            let (size, depends_on) = (size.clone(), depends_on.clone());
            found.push(Processor { name: name.text.clone(), size, depends_on, span: *span });
        }
    }
    found
}

fn place_of(program: &Program, wanted: &str) -> Span {
    let declared = program.items.iter().find_map(|item| match item {
        Item::Declaration(Declaration { kind: DeclarationKind::Type { names, .. }, span })
            if names.iter().any(|name| name.text == wanted) =>
        {
            Some(*span)
        }
        _ => None,
    });
    declared.unwrap_or_default()
}

/// The names of types that are indices of arrays in declared types and variables.
fn index_types(program: &Program) -> Vec<String> {
    let mut found = Vec::new();
    for item in &program.items {
        let Item::Declaration(Declaration { kind, .. }) = item else { continue };
        match kind {
            DeclarationKind::Type { definition, .. } => indices(definition, &mut found),
            DeclarationKind::Variable(variables) => indices(&variables.ty, &mut found),
            DeclarationKind::Constant { .. } => {}
        }
    }
    found
}

fn indices(ty: &TypeExpression, found: &mut Vec<String>) {
    match &ty.kind {
        TypeKind::Array { index, element } => {
            if let TypeKind::Named(name) = &index.kind {
                found.push(name.text.clone());
            }
            indices(element, found);
        }
        TypeKind::Record(fields) => fields.iter().for_each(|field| indices(&field.ty, found)),
        TypeKind::Multiset { element, .. } => indices(element, found),
        _ => {}
    }
}

/// The names of the types over which parameters of rulesets range.
fn parameter_types(program: &Program) -> Vec<String> {
    let mut found = Vec::new();
    for item in &program.items {
        if let Item::Rule(rule) = item {
            parameters(rule, &mut found);
        }
    }
    found
}

fn parameters(rule: &Rule, found: &mut Vec<String>) {
    match &rule.kind {
        RuleKind::Ruleset { quantifiers, rules } => {
            for quantifier in quantifiers {
                if let Domain::Type(TypeExpression { kind: TypeKind::Named(name), .. }) =
                    &quantifier.domain
                {
                    found.push(name.text.clone());
                }
            }
            rules.iter().for_each(|rule| parameters(rule, found));
        }
        RuleKind::Alias { rules, .. } | RuleKind::Choose { rules, .. } => {
            rules.iter().for_each(|rule| parameters(rule, found));
        }
        _ => {}
    }
}
