//! What a program means: values, multisets, run-time errors, and what has no order.
//!
//! # Values
//!
//! A *simple* value is an integer: the number itself for ranges; 0 (false) and 1 (true) for
//! booleans; the position in the declaration, from 0, for enumerations and scalarsets; the
//! position in the concatenation of the members, from 0, for unions; the position in the multiset,
//! from 0, for what `choose` binds. `Simple::lowest` and `Simple::count` give its domain.
//! Arithmetic is done on 64-bit integers, and overflow is a run-time error.
//!
//! Every simple variable may also be *undefined*, and is until something is assigned to it: so are
//! the local variables of a rule, a function or a procedure at each entry. `clear` gives the
//! lowest value (of every component; a multiset becomes empty), `undefine` makes undefined (of
//! every component; a multiset becomes empty).
//!
//! # Undefined
//!
//! Undefined is a value of its own of every scalarset and union if [`Model::undefined_members`]
//! (CMurphi), equal to itself and to nothing else ([`Model::has_undefined_value`]). An expression of
//! such a type may have it: `=` and `!=`, `switch` and its cases, and `ismember`, which is then false,
//! take it as it is; conversions between a union and its members, `?:`, assignments, arguments and
//! results hand it on. It is no index and no position.
//!
//! Of other types, and of all without [`Model::undefined_members`], reading something undefined is an
//! error, but for `isundefined`; an assignment with [`Assign::copies_undefined`], an argument and
//! `put`, which take a variable as it is; and, with [`Model::undefined_members`], `return` and
//! `MultisetAdd` of a variable of an enumeration ([`Model::hands_on_undefined`]). Records and arrays
//! are copied, passed and compared with undefined components as they are.
//!
//! # Calls and priorities
//!
//! A function that calls itself, perhaps through others, is recursive. That more than
//! [`Model::call_limit`] calls of recursive functions are open is a run-time error of the call that is
//! one too many, after its arguments have been evaluated. Other calls are not counted.
//!
//! In a state, the rules that fire are those whose [priority](super::Rule::priority) is the least
//! among the rules that apply there (what an `assume` excludes in a body counts as applying). The
//! conditions of all rules are evaluated, and an error in one is an error whatever its priority.
//!
//! # Multisets
//!
//! In a state, a multiset of n elements has them at the positions 0 … n−1; guards and properties
//! see no other. While a rule or a start state runs, positions are stable: a removed element leaves
//! a gap, and every other element stays where it is. What is then read, written or removed at the
//! position of the gap, directly or through an alias or a `var` parameter that was bound before, is
//! a run-time error. Filters (`MultisetCount`, `MultisetRemovePred`), comparisons and `put` pass
//! over gaps. A copy of a multiset has the gaps of the original. When the rule ends, the gaps are
//! closed.
//!
//! A new element is put behind the last room that was used, or, if there is none behind it, into
//! the first gap. It is at a position of its own all the same, which is equal to no other and which
//! only filters find: a reference to what was removed does not come to mean what was added. So
//! nothing shows in which order a multiset keeps its elements, which symmetry reduction relies on.
//! (What is assigned to or cleared as a whole begins anew at position 0, whatever is bound to it.)
//!
//! # Run-time errors
//!
//! Reading an undefined simple value as said above; an index that is undefined or outside the index type; assigning
//! or passing a value outside the domain of its type; division or remainder by zero; overflow;
//! `error`; a failed `assert`; `MultisetAdd` to a full multiset; a multiset position that is not
//! occupied; a `for` whose step is 0 or leads away; a `while` that runs for more than
//! [`Model::loop_limit`] rounds in one execution; too many open calls; a function that ends without
//! `return`. A `switch` without a matching case and without `else` does nothing.
//!
//! `&`, `|`, `->` and `?:` evaluate their right operands only when needed, from left to right;
//! all other operands and arguments are evaluated from left to right. `forall` and `exists` over
//! ranges, enumerations and booleans go through their domain in ascending order and stop at the
//! first value that decides.
//!
//! # What has no order
//!
//! Members of a scalarset and elements of a multiset have no order ([`Model::is_unordered`]), so
//! nothing that a program does may depend on one:
//!
//! - `forall` and `exists` evaluate their condition for every member. An error of any member is an
//!   error. Otherwise, a member that decides does so, whatever the `assume` of a function excludes
//!   for another; and if none decides, what is excluded for one member is excluded.
//! - Filters of multisets evaluate their condition for every element: an error of any is an error,
//!   otherwise what is excluded for one is excluded.
//! - A property is evaluated for all its instances: an error of any is an error, otherwise the
//!   instance that does not hold (of a cover: that holds) decides, otherwise what is excluded for
//!   one is excluded.
//! - A `for` whose rounds come out the same in every order is run in ascending order. If one of its
//!   rounds may return or be excluded, all rounds are run
//!   ([`For::runs_all`](StatementKind::For)): an error of any is an error, otherwise what is
//!   excluded in one is excluded, otherwise a round that returns does. All other loops run in
//!   ascending order and end at a `return` or an `assume` that does not hold; the scalarsets whose
//!   order may show in them are [`Model::ordered`], and are not a symmetry of the program.

#[allow(unused_imports)] // the text above refers to them
use super::{Assign, Model, Simple, StatementKind};
