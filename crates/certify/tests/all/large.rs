//! Certificates of large traces are checked in the time it takes to read them, or not much more.

use std::time::Instant;

use crate::common::claim;
use evidence::{Certificate, Evidence, Witness};
use history::{AddressLabel, Builder, EventId, History, Operation, ThinAir};
use models::Model;
use oracle::Rng;
use tribunal_certify::{Fault, certify, certify_within};

/// A run of an interleaving, and the order in which it ran.
fn interleaving(events: usize, threads: usize, addresses: usize) -> (History, Vec<EventId>) {
    let mut rng = Rng::new(7);
    let mut builder = Builder::new();
    let addresses: Vec<_> =
        (0..addresses as u64).map(|a| builder.address(&AddressLabel::Number(a))).collect();
    let mut memory = vec![0; addresses.len()];
    let mut places = Vec::with_capacity(events);
    let mut lengths = vec![0; threads];
    for value in 1..=events as u64 {
        let (thread, at) = (rng.below(threads), rng.below(addresses.len()));
        let address = addresses[at];
        let operation = match rng.below(20) {
            0 => Operation::ReadModifyWrite { address, read: memory[at], write: value },
            1..8 => Operation::Write { address, value },
            _ => Operation::Read { address, value: memory[at] },
        };
        memory[at] = operation.value_written().unwrap_or(memory[at]);
        builder.event(thread as u64, operation, 0).expect("within limits");
        places.push((thread as u64, lengths[thread]));
        lengths[thread] += 1;
    }
    let history = builder.finish(ThinAir::Malformed).expect("every value was written");
    let id = |&(thread, index): &(u64, usize)| {
        let thread = history.thread_by_label(thread).expect("it has events");
        history.event_at(thread, index).expect("it was added")
    };
    let order = places.iter().map(id).collect();
    (history, order)
}

/// Fewer events where the compiler did not optimise.
const MANY: usize = if cfg!(debug_assertions) { 100_000 } else { 1_000_000 };

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let started = Instant::now();
    let result = work();
    println!("{what}: {:?}", started.elapsed());
    result
}

#[test]
fn an_order_of_a_million_events_is_read_and_replayed() {
    let (history, order) = interleaving(MANY, 16, 1_000);
    let evidence = Evidence::Consistent(Witness::Order(order));
    let line = timed("writing", || claim(Model::Sc, evidence).to_json(&history));
    let certificate = timed("reading", || Certificate::from_json(&line, &history));
    let certificate = certificate.expect("it was written so");
    for model in Model::ALL.into_iter().filter(|model| model.store_rules().is_some()) {
        let certificate = Certificate { model, ..certificate.clone() };
        assert_eq!(timed(model.name(), || certify(&history, &certificate)), Ok(()));
    }
}

/// Events far from program order: an order of coherence that goes address by address.
#[test]
fn an_order_that_strays_far_from_program_order_is_replayed_as_quickly() {
    let (history, mut order) = interleaving(MANY, 16, 1_000);
    order.sort_by_key(|&e| history.event(e).address());
    let evidence = Evidence::Consistent(Witness::Order(order));
    let certificate = claim(Model::Coherence, evidence);
    assert_eq!(timed("address by address", || certify(&history, &certificate)), Ok(()));
}

#[test]
fn causal_definitions_are_recomputed_for_large_traces() {
    for (model, events) in [
        (Model::Cc, MANY / 10),
        (Model::Ccv, MANY / 50),
        (Model::Cm, MANY / 200),
        (Model::Ccm, MANY / 200),
        (Model::Wccm, MANY / 200),
    ] {
        let (history, _) = interleaving(events, 8, 20);
        let certificate = claim(model, Evidence::Consistent(Witness::Choices(Vec::new())));
        assert_eq!(timed(model.name(), || certify(&history, &certificate)), Ok(()));
    }
}

#[test]
fn tables_that_do_not_fit_the_memory_are_refused_before_they_are_made() {
    let (history, _) = interleaving(2_000, 100, 20);
    for model in Model::ALL.into_iter().filter(|model| model.causal_rules().is_some()) {
        let certificate = claim(model, Evidence::Consistent(Witness::Choices(Vec::new())));
        assert_eq!(certify_within(&history, &certificate, 8 << 20), Ok(()), "{model}");
        let rejection = certify_within(&history, &certificate, 100 << 10).expect_err("too little");
        assert!(
            matches!(rejection.fault, Fault::TooLarge { bytes, allowed: 102_400 } if bytes > 800_000),
            "{model}: {rejection}"
        );
        assert!(
            rejection.to_string().ends_with(" KiB, and --memory allows 100 KiB"),
            "{rejection}"
        );
    }
}

#[test]
fn an_order_is_replayed_whatever_the_memory() {
    let (history, order) = interleaving(2_000, 16, 20);
    let certificate = claim(Model::Sc, Evidence::Consistent(Witness::Order(order)));
    assert_eq!(certify_within(&history, &certificate, 0), Ok(()));
}
