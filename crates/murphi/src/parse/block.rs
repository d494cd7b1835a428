//! Blocks and their ends.
//!
//! `end` closes anything, `endif` and its like close their own kind. When an end is missing, the
//! place where that shows is usually far below the slip, so the parser remembers which block was
//! closed by an `end` that is indented less than the block: that one probably lacks its own.

use super::{Parser, begins_item, begins_section};
use crate::diagnostic::Diagnostic;
use crate::lex::{Token, TokenKind};
use crate::source::Span;

/// The longer forms of `end` that close a block, by the word that opens it. Rumur closes functions
/// and procedures by either.
fn own_ends(opener: TokenKind) -> &'static [TokenKind] {
    match opener {
        TokenKind::Alias => &[TokenKind::EndAlias],
        TokenKind::Exists => &[TokenKind::EndExists],
        TokenKind::For => &[TokenKind::EndFor],
        TokenKind::Forall => &[TokenKind::EndForall],
        TokenKind::Function => &[TokenKind::EndFunction, TokenKind::EndProcedure],
        TokenKind::Procedure => &[TokenKind::EndProcedure, TokenKind::EndFunction],
        TokenKind::If => &[TokenKind::EndIf],
        TokenKind::Record => &[TokenKind::EndRecord],
        TokenKind::Rule => &[TokenKind::EndRule],
        TokenKind::Ruleset => &[TokenKind::EndRuleset],
        TokenKind::StartState => &[TokenKind::EndStartState],
        TokenKind::Switch => &[TokenKind::EndSwitch],
        TokenKind::While => &[TokenKind::EndWhile],
        // `choose` is a name to the lexer.
        TokenKind::Name => &[TokenKind::EndChoose],
        _ => &[],
    }
}

impl Parser<'_> {
    /// What is between a word that was just read and its end.
    pub(super) fn block<T: Default>(
        &mut self,
        opener: Token,
        content: impl FnOnce(&mut Self) -> T,
    ) -> T {
        self.open.push(opener);
        let content = self.nested(|parser| Ok(content(parser)));
        self.open.pop();
        self.close(opener);
        content.unwrap_or_default()
    }

    /// Takes the end of a block, or reports that it is missing.
    fn close(&mut self, block: Token) {
        let kind = self.kind();
        if kind == TokenKind::End || own_ends(block.kind).contains(&kind) {
            self.watch_indentation(block);
            self.advance();
            return;
        }
        let problem = self.missing_end(block);
        self.report(problem);
        let closes_outer = self.open.iter().any(|outer| own_ends(outer.kind).contains(&kind));
        if kind.is_end() && !closes_outer {
            self.advance();
        }
    }

    fn missing_end(&self, block: Token) -> Diagnostic {
        let ends = match own_ends(block.kind) {
            [own, ..] => format!("`end` or {}", own.expected()),
            [] => "`end`".to_string(),
        };
        let opener = self.says(block.span);
        let mut problem =
            self.expected(&ends).related(block.span, format!("this `{opener}` is not closed"));
        if let Some(span) = self.else_if {
            problem = problem.related(
                span,
                "`else if` starts a new `if` that needs its own `end`; `elsif` does not",
            );
        } else if let Some((opener, end)) = self.suspect {
            let word = self.says(opener);
            problem = problem
                .related(opener, format!("the `end` of this `{word}` may be missing"))
                .related(end, "it was closed by this `end`, which is indented less");
        }
        problem
    }

    /// Remembers the first block whose end is indented less than the line it begins on.
    fn watch_indentation(&mut self, block: Token) {
        let end = self.span();
        if self.suspect.is_none()
            && !self.same_line(block.span, end)
            && self.indentation(end) < self.indentation(block.span)
        {
            self.suspect = Some((block.span, end));
        }
    }

    /// The blanks at the beginning of the line a span is on.
    fn indentation(&self, span: Span) -> usize {
        let (line, _) = self.source.line_at(span.start);
        line.len() - line.trim_start().len()
    }

    /// Whether the statements of the innermost block are over.
    pub(super) fn at_end_of_statements(&self) -> bool {
        let kind = self.kind();
        kind.is_end()
            || begins_item(kind)
            || begins_section(kind)
            || matches!(
                kind,
                TokenKind::Else | TokenKind::Elsif | TokenKind::Case | TokenKind::EndOfFile
            )
    }
}
