//! Declares the type of counters that became sets: one named type for all of them, after the type
//! of processors, so that the abstraction can distinguish such a set from any other array of
//! booleans.

use murphi::ast::{Declaration, DeclarationKind, TypeExpression, TypeKind};
use murphi::diagnostic::Diagnostic;
use murphi::transform::{identifier, named_type};

use super::{Result, Sets};
use crate::types::counted_type;

impl Sets<'_> {
    /// Turns declared counters into sets. Returns whether there are any.
    pub(super) fn retype_all(&self, declarations: &mut [Declaration]) -> bool {
        let mut has_counters = false;
        for declaration in declarations {
            has_counters |= match &mut declaration.kind {
                DeclarationKind::Type { definition, .. } => self.retype(definition),
                DeclarationKind::Variable(variables) => self.retype(&mut variables.ty),
                DeclarationKind::Constant { .. } => false,
            };
        }
        has_counters
    }

    fn retype(&self, ty: &mut TypeExpression) -> bool {
        if !matches!(ty.kind, TypeKind::Named(_)) && self.room(ty).is_some() {
            *ty = named_type(&counted_type(self.processor), ty.span);
            return true;
        }
        match &mut ty.kind {
            TypeKind::Record(fields) => {
                let mut has_counters = false;
                for field in fields {
                    has_counters |= self.retype(&mut field.ty);
                }
                has_counters
            }
            TypeKind::Array { element, .. } | TypeKind::Multiset { element, .. } => {
                self.retype(element)
            }
            _ => false,
        }
    }

    /// Declares the type of counters, after the type of processors.
    pub(super) fn declare(&self, declarations: &mut Vec<Declaration>) -> Result<()> {
        let counted = counted_type(self.processor);
        if let Some(taken) = declarations.iter().find(|each| declares(each, &counted)) {
            let message = format!("the name `{counted}` is reserved for counters of processors");
            return Err(Diagnostic::error(taken.span, message).help("give this another name"));
        }
        let Some(at) = declarations.iter().position(|each| declares(each, self.processor)) else {
            return Ok(());
        };
        let span = declarations[at].span;
        let kind = TypeKind::Array {
            index: Box::new(named_type(self.processor, span)),
            element: Box::new(named_type("boolean", span)),
        };
        let kind = DeclarationKind::Type {
            names: vec![identifier(&counted, span)],
            definition: TypeExpression { kind, span },
        };
        declarations.insert(at + 1, Declaration { kind, span });
        Ok(())
    }
}

fn declares(declaration: &Declaration, wanted: &str) -> bool {
    let names = match &declaration.kind {
        DeclarationKind::Type { names, .. } | DeclarationKind::Constant { names, .. } => names,
        DeclarationKind::Variable(variables) => &variables.names,
    };
    names.iter().any(|name| name.text == wanted)
}
