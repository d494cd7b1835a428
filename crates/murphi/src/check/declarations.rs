//! Constants, types and variables, of the program and of rules and functions.

use super::scope::{Access, Root, Symbol};
use super::{Checker, LocalInfo};
use crate::ast::{Declaration, DeclarationKind, Expression, Name, TypeExpression, Variables};
use crate::ir::{GlobalId, Storage, Variable};
use crate::symmetric::Symmetric;

impl Checker<'_> {
    /// A declaration of the program.
    pub(super) fn declaration(&mut self, declaration: &Declaration) {
        match &declaration.kind {
            DeclarationKind::Constant { names, value } => self.constants(names, value, true),
            DeclarationKind::Type { names, definition } => self.types(names, definition),
            DeclarationKind::Variable(variables) => self.state_variables(variables),
        }
    }

    /// Declarations of a rule or a function.
    pub(super) fn local_declarations(&mut self, declarations: &[Declaration]) {
        for declaration in declarations {
            match &declaration.kind {
                DeclarationKind::Constant { names, value } => self.constants(names, value, false),
                DeclarationKind::Type { names, definition } => self.types(names, definition),
                DeclarationKind::Variable(variables) => self.local_variables(variables),
            }
        }
    }

    /// Only constants of the program can be chosen by the user.
    fn constants(&mut self, names: &[Name], written: &Expression, choosable: bool) {
        let constant = self.constant(written, "the value of a constant");
        for name in names {
            if choosable {
                self.choosable.push((name.text.clone(), name.span));
            }
            let value = constant.and_then(|(value, ty)| match choosable {
                true => Ok((self.chosen_value(name, ty)?.unwrap_or(value), ty)),
                false => Ok((value, ty)),
            });
            self.declare(
                name,
                match value {
                    Ok((value, ty)) => Symbol::Constant { ty, value },
                    Err(_) => Symbol::Broken,
                },
            );
        }
    }

    fn types(&mut self, names: &[Name], definition: &TypeExpression) {
        let called = names.first().map(|name| name.text.as_str());
        let ty = self.type_expression(definition, called);
        let is_named = |one: &&Symmetric| names.iter().any(|name| name.text == one.name);
        if let (Ok(ty), Some(one)) = (ty, self.options.symmetric.iter().find(is_named)) {
            self.model.recast.push((ty, one.is_enumeration));
        }
        for name in names {
            self.declare(name, ty.map_or(Symbol::Broken, Symbol::Type));
        }
    }

    fn state_variables(&mut self, variables: &Variables) {
        let ty = self.type_expression(&variables.ty, None);
        for name in &variables.names {
            let Ok(ty) = ty else {
                self.declare(name, Symbol::Broken);
                continue;
            };
            let id = GlobalId(self.model.globals.len() as u32);
            self.model.globals.push(Variable { name: name.text.clone(), ty, span: name.span });
            self.declare(name, Symbol::Global(id));
        }
    }

    fn local_variables(&mut self, variables: &Variables) {
        let ty = self.type_expression(&variables.ty, None);
        for name in &variables.names {
            let Ok(ty) = ty else {
                self.declare(name, Symbol::Broken);
                continue;
            };
            let info = LocalInfo { access: Access::Writable, root: Root::Own };
            let id = self.add_local(&name.text, ty, Storage::Own, info);
            self.declare(name, Symbol::Local(id));
        }
    }
}
