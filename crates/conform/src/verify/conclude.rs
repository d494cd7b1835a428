//! Derives the verdict from the searches, and checks the assumptions that it needs.
//!
//! This is the only way to "verified": every lemma that holds has a list of assumptions, and each
//! of them must be established by the source, shown by a search of its own, or allowed by the user.
//! A run-time error of a composition is reported as one of the protocol if the protocol has it. If
//! not, it is the observer's: an event without a value, or a protocol that does more with values
//! than copy them.

use murphi::diagnostic::Diagnostic;
use murphi::interpret::{RuntimeError, RuntimeErrorKind};
use murphi::source::Span;

use super::trial::Trial;
use super::{Lemma, MemoryModel, Unknown, Verdict, ViolationKind};
use crate::failure::Failure;
use crate::foundations::{Foundation, Premises, Unestablished};
use crate::run::failure;
use crate::{sc_timely_loads, stored_once};

impl Trial<'_> {
    /// The verdict, if its assumptions are established.
    pub(super) fn founded(&mut self, verdict: Verdict) -> Result<Verdict, Failure> {
        let is_left_out = self.foundations.doubts_about(Foundation::StartStates);
        match verdict {
            Verdict::Holds(()) => {}
            Verdict::Undecided(Unknown::NoStart) if is_left_out => {}
            verdict => return Ok(verdict),
        }
        let rests_on = self.lemmas_rest_on();
        let needs_free_values = rests_on.iter().any(|one| one.includes(Foundation::FreeValues));
        // An assumption that the user has allowed is not searched for.
        if needs_free_values
            && !self.options.assume_independence
            && let Some(undecided) = self.ask_for_free_values()?
        {
            return Ok(undecided);
        }
        let against = self.against(&rests_on);
        if against.is_empty() {
            self.rests_on = rests_on;
            return Ok(verdict);
        }
        if let Some(own_values) = self.verified_with_own_values()? {
            self.rests_on = vec![own_values];
            return Ok(Verdict::Holds(()));
        }
        Ok(Verdict::Undecided(Unknown::NotEstablished(against)))
    }

    /// The assumptions that are not established, and that the user has not allowed.
    fn against(&self, rests_on: &[Premises]) -> Vec<Unestablished> {
        match self.options.assume_independence {
            true => self.foundations.assuming_independence(rests_on).0,
            false => self.foundations.against(rests_on),
        }
    }

    /// If few values do not stand for all of them, the protocol may still be verified for the
    /// values that it has, if every load returns the current value of its address. Returns the
    /// assumptions of that claim.
    fn verified_with_own_values(&mut self) -> Result<Option<Premises>, Failure> {
        if self.options.memory_model != MemoryModel::Sc {
            return Ok(None);
        }
        let Some(composition) = sc_timely_loads::exact(self.protocol) else { return Ok(None) };
        let rests_on = composition.rests_on;
        if !self.foundations.against(&[rests_on]).is_empty() {
            return Ok(None);
        }
        let interpreter = self.composed(&composition)?;
        let name = sc_timely_loads::with_own_values();
        let exploration = self.observed(&name, &interpreter, 0);
        let holds = exploration.verdict == explore::Verdict::Holds(()) && exploration.states > 0;
        self.lemmas.push(Lemma { name, interpreter, exploration, passed_over: 0, rests_on });
        Ok(holds.then_some(rests_on))
    }

    /// The assumptions that the verdict needs. A failed attempt contributes none.
    pub(super) fn lemmas_rest_on(&self) -> Vec<Premises> {
        let holds = |lemma: &&Lemma| lemma.exploration.verdict == explore::Verdict::Holds(());
        self.lemmas.iter().filter(holds).map(|lemma| lemma.rests_on).collect()
    }

    /// Searches for stores with equal values, if the source does not exclude them. Without data
    /// independence the search would mean nothing. Returns a verdict if the search ended early.
    fn ask_for_free_values(&mut self) -> Result<Option<Verdict>, Failure> {
        let in_doubt = |about: Foundation| self.foundations.doubts_about(about);
        let is_open = in_doubt(Foundation::FreeValues);
        let is_cargo =
            ![Foundation::Causality, Foundation::DataIndependence, Foundation::StartStates]
                .into_iter()
                .any(in_doubt);
        if !is_open || !is_cargo {
            return Ok(None);
        }
        let Some(composition) = stored_once::lemma(self.protocol) else { return Ok(None) };
        let interpreter = self.composed(&composition)?;
        let name = stored_once::CLAIM.to_owned();
        let exploration = self.observed(&name, &interpreter, 0);
        let mut ended = None;
        match &exploration.verdict {
            explore::Verdict::Holds(()) => self.foundations.establish(Foundation::FreeValues),
            explore::Verdict::Undecided(reason) => {
                ended = Some(Verdict::Undecided(Unknown::Ended(reason.clone())))
            }
            explore::Verdict::Broken(_) => {}
        }
        let rests_on = composition.rests_on;
        self.lemmas.push(Lemma { name, interpreter, exploration, passed_over: 0, rests_on });
        Ok(ended)
    }

    /// The meaning of a run-time error of a composition, which is the last lemma.
    pub(super) fn explained(&mut self) -> Result<Verdict, Failure> {
        let Some(failed) = self.lemmas.last() else {
            return Ok(Verdict::Broken(ViolationKind::Protocol));
        };
        let Some(error) = failure(&failed.interpreter, &failed.exploration) else {
            return Ok(Verdict::Broken(ViolationKind::Protocol));
        };
        let place = self.place_of(failed).unwrap_or_default();
        if self.is_event_without_value(&error) {
            let message = "the value of a load, store or commit is undefined";
            self.broken = Some(Diagnostic::error(place, message));
            return Ok(Verdict::Broken(ViolationKind::Protocol));
        }
        if !self.options.protocol {
            self.broken = Some(Diagnostic::error(place, error.message));
            return Ok(Verdict::Broken(ViolationKind::Protocol));
        }
        let message = format!(
            "an observer failed on a value that the protocol does not have: {}",
            error.message
        );
        let help = "the protocol may copy values, but not compare them or compute with them";
        let diagnostic = Diagnostic::warning(place, message).help(help);
        self.with_own_values_only(Unestablished { about: Foundation::OtherValues, diagnostic })
    }

    /// The verdict if an observer could not complete, because of values that the protocol may not
    /// have.
    pub(super) fn with_own_values_only(
        &mut self,
        doubt: Unestablished,
    ) -> Result<Verdict, Failure> {
        if self.options.protocol {
            match self.protocol_itself()? {
                Verdict::Holds(()) => {}
                verdict => return Ok(verdict),
            }
        }
        if let Some(own_values) = self.verified_with_own_values()? {
            self.rests_on = vec![own_values];
            return Ok(Verdict::Holds(()));
        }
        let mut doubts = self.foundations.doubts().to_vec();
        doubts.push(doubt);
        Ok(Verdict::Undecided(Unknown::NotEstablished(doubts)))
    }

    /// The rule or start state of the protocol in which a lemma failed.
    fn place_of(&self, failed: &Lemma) -> Option<Span> {
        use explore::Violation::{GuardFailed, RuleFailed, StartFailed};
        let model = &self.protocol.model;
        let rule = match failed.exploration.violation()? {
            GuardFailed { rule, .. } | RuleFailed { rule, .. } => model.rules.get(rule as usize),
            StartFailed { rule, .. } => model.start_states.get(rule as usize),
            _ => None,
        };
        rule.map(|rule| rule.span)
    }

    /// Whether a processor loads, stores or commits an undefined value, which the protocol alone
    /// does not detect. No memory model allows that.
    fn is_event_without_value(&self, error: &RuntimeError) -> bool {
        let protocol = self.protocol;
        let markers = [Some(&protocol.load), Some(&protocol.store), protocol.commit.as_ref()];
        let is_marker =
            |function: &str| markers.iter().flatten().any(|marker| marker.name == function);
        error.kind == RuntimeErrorKind::Undefined
            && error.calls.iter().any(|call| call.function.starts_with(&protocol.prefix))
            && error.calls.iter().any(|call| is_marker(&call.function))
    }
}
