//! Packet traces of gem5, written here by the documented format, become programs; what is broken is
//! refused with the byte.

use chance::Rng;
use tribunal_stress::{PacketCounts, PacketError, PacketPrograms, Program};

fn number(out: &mut Vec<u8>, field: u64, value: u64) {
    varint(out, field << 3);
    varint(out, value);
}

fn varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn bytes(out: &mut Vec<u8>, field: u64, value: &[u8]) {
    varint(out, field << 3 | 2);
    varint(out, value.len() as u64);
    out.extend_from_slice(value);
}

/// A trace with these requestors and packets: command, address, size, flags, requestor.
fn trace(names: &[&str], packets: &[(u64, u64, u64, u64, u64)]) -> Vec<u8> {
    let mut out = b"gem5".to_vec();
    let mut message = |fill: &dyn Fn(&mut Vec<u8>)| {
        let mut body = Vec::new();
        fill(&mut body);
        varint(&mut out, body.len() as u64);
        out.extend_from_slice(&body);
    };
    message(&|header| {
        bytes(header, 1, b"system.monitor.trace");
        number(header, 3, 1_000_000_000_000);
        for (key, name) in names.iter().enumerate() {
            let mut entry = Vec::new();
            number(&mut entry, 1, key as u64);
            bytes(&mut entry, 2, name.as_bytes());
            bytes(header, 4, &entry);
        }
    });
    for (tick, &(command, address, size, flags, requestor)) in packets.iter().enumerate() {
        message(&|packet| {
            number(packet, 1, 500 * tick as u64);
            number(packet, 2, command);
            number(packet, 3, address);
            number(packet, 4, size);
            number(packet, 5, flags);
            number(packet, 6, requestor);
            // A program counter, and a field that a later version may have.
            number(packet, 7, 0x1_0094);
            bytes(packet, 9, b"later");
        });
    }
    out
}

const NAMES: &[&str] = &["system.cpu0.inst", "system.cpu0.data", "system.cpu1.data"];

fn programs(trace: &[u8], window: usize) -> Result<(Vec<Program>, PacketCounts), PacketError> {
    let mut programs = PacketPrograms::new(trace, "cpu.trc", window)?;
    let all = (&mut programs).collect::<Result<_, _>>()?;
    Ok((all, programs.counts()))
}

#[test]
fn the_accesses_of_requestors_that_race_become_a_program() {
    let packets = [
        (1, 0x1_0000, 4, 0x100, 0),
        (4, 0x8000_2000, 4, 0, 1),
        (1, 0x8000_2040, 8, 0, 2),
        (4, 0x8000_2040, 16, 0, 1),
        (1, 0x8000_2004, 4, 0, 2),
        (1, 0x8000_2000, 4, 0x0100_0000, 2),
        (30, 0x8000_2000, 64, 0, 1),
        (1, 0x8000_2000, 8, 0x0040_0000, 2),
    ];
    let (made, counts) = programs(&trace(NAMES, &packets), 100).unwrap();
    assert_eq!(counts, PacketCounts { accesses: 5, fetches: 2, others: 1, without_race: 0 });
    let [program] = &made[..] else { panic!("{made:?}") };
    program.check().unwrap();
    let text = tribunal_stress::Test::from(program.clone()).to_string();
    assert_eq!(
        text,
        "program packets-1\n\
         place M[2147491840] line 0 word 0\n\
         place M[2147491904] line 1 word 0\n\
         place M[2147491912] line 1 word 1\n\
         0: M[2147491840] := 1\n\
         0: M[2147491904] := 2\n\
         0: M[2147491912] := 3\n\
         1: M[2147491904] ?\n\
         1: M[2147491840] ?\n\
         1: <M[2147491840] ?; M[2147491840] := 4>\n\
         end\n"
    );
}

#[test]
fn windows_without_a_race_are_left_out() {
    let own = |requestor| (4, 0x1000 * requestor, 8, 0, requestor);
    let racing = [(4, 0x40, 8, 0, 1), (1, 0x40, 8, 0, 2)];
    let packets =
        [&[own(1), own(2)][..], &racing, &[(1, 0x40, 8, 0, 1), (1, 0x40, 8, 0, 2)], &racing];
    let (made, counts) = programs(&trace(NAMES, &packets.concat()), 2).unwrap();
    assert_eq!((made.len(), counts.without_race, counts.accesses), (2, 2, 8));
    assert_eq!(made[1].name, "packets-2");
}

#[test]
fn what_is_no_packet_trace_is_refused_with_the_byte() {
    let good = trace(NAMES, &[(4, 0x40, 8, 0, 1)]);
    for (trace, sentence) in [
        (b"0: M[x] := 1".to_vec(), "byte 0: this is not a packet trace of gem5"),
        (b"gem5".to_vec(), "byte 4: the header is missing"),
        (good[..good.len() - 3].to_vec(), "of a message"),
        ([&good[..], &[0x80]].concat(), "the trace ends within a length"),
        ([&good[..], &[0xff, 0xff, 0xff, 0x7f]].concat(), "no packet is longer"),
        ([&good[..], &[2, 0x08, 1]].concat(), "lacks a command"),
        ([&good[..], &[6, 0x10, 1, 0x18, 1, 0x20, 1]].concat(), "requestor (pkt_id)"),
        ([&good[..], &[1, 0x0b]].concat(), "not a Protocol Buffers message"),
    ] {
        let error = programs(&trace, 10).unwrap_err().to_string();
        assert!(error.starts_with("cpu.trc: byte ") && error.contains(sentence), "{error}");
    }
}

#[test]
fn broken_traces_are_read_or_refused() {
    let packets: Vec<_> = (0..40)
        .map(|n| ([1, 4][n % 2], 0x40 * (n as u64 % 3), 8, 0, 1 + n as u64 / 3 % 2))
        .collect();
    let good = trace(NAMES, &packets);
    let (mut read, mut refused) = (0, 0);
    for seed in 0..2000 {
        let mut rng = Rng::new(seed);
        let mut trace = good.clone();
        for _ in 0..1 + rng.below(3) {
            let at = rng.below(trace.len());
            match rng.below(3) {
                0 => trace.truncate(at.max(4)),
                1 => drop(trace.remove(at)),
                _ => trace[at] = rng.below(256) as u8,
            }
        }
        match programs(&trace, 7) {
            Ok((made, _)) => {
                read += 1;
                made.iter().for_each(|program| program.check().unwrap());
            }
            Err(_) => refused += 1,
        }
    }
    assert!(read > 100 && refused > 200, "{read} read, {refused} refused");
}
