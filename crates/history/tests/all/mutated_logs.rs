//! Commit logs with something wrong in them: whatever is done to a log, it is read or refused at a
//! place, and what is read comes back equal from both writers.

use oracle::Rng;
use tribunal_history::{
    CommitOptions, DiscardedAmo, Format, History, Lines, ReadOptions, ThinAir, TraceReader,
};

const SPIKE: &str = "\
core   0: 3 0x0000000080000000 (0x00a5a023) mem 0x0000000080002000 0x0000002a
core   0: 3 0x0000000080000004 (0x0110000f)
core   1: 3 0x0000000080000008 (0x00062683) x13 0x0000000000000001 mem 0x0000000080002040
core   1: 3 0x000000008000000c (0x00c686b3) x13 0x0000000080002000
core   1: 3 0x0000000080000010 (0x0006a503) x10 0x000000000000002a mem 0x0000000080002000
core   1: 3 0x0000000080000014 (0x00050463)
core   0: 3 0x0000000080000018 (0x1405a52f) x10 0x0000000000000000 mem 0x0000000080002040
core   0: 3 0x000000008000001c (0x1ac5a2af) x5  0x0000000000000000 mem 0x0000000080002040 0x00000001
core   0: 3 0x0000000080000020 (0x00029463)
core   0: 3 0x0000000080000024 (0x0c55a52f) x10 0x0000000000000001 mem 0x0000000080002040 mem 0x0000000080002040 0x00000007
core   0: 3 0x0000000080000028 (0x0007a023) mem 0x0000000080005001 0x00000000
";

const RVFI: &str = "\
130\t61\t00000150\t4481\tc.li\tx9,0\t x9=0x00000000
142\t67\t0000015c\tc622\tc.swsp\tx8,12(x2)\t x2:0x00002000  x8:0x0000002a PA:0x0000200c store:0x0000002a
144\t68\t0000015e\t4532\tc.lwsp\tx10,12(x2)\t x2:0x00002000 x10=0x0000002a PA:0x0000200c load:0x0000002a
3 0x0000000080000010 (0x00b52023) mem 0x0000000080002000 0x0000000000000001
rvfi hart=1 cycle=67 insn=0005c503 pc_rdata=80000010 rd_addr=10 rd_wdata=2a mem_addr=80002000 mem_rmask=4 mem_rdata=2a0000
";

const WHISPER: &str = "\
#7 0  M 0000000080000010 0005a503 r 000000000000000a 0000000000000001 lw x10, 0x0(x11) [0x80002000]
#9 1  M 0000000080000018 0c55a52f r 000000000000000a 0000000000000001 amoswap.w.aq x10, x5, (x11) [0x80002000]  +
#9 1  M 0000000080000018 0c55a52f m 0000000080002000 0000000000000003 amoswap.w.aq x10, x5, (x11) [0x80002000]
hart=0 time=12 mread 8 0x80002000 4 0x1 e
hart=1 time=15 mbinsert 3 0x80002000 4 0x1
";

const M3: &str = "\
event kCreateMemop; hart_id 0; rob_id 8; rv_instruction 370947; branch_mask 0; timestamp 90; is_load true;
event kAddMemopAddress; hart_id 0; rob_id 8; memop_size 2; address 8192; memop_id 0; timestamp 100;
event kPerformLoad; hart_id 0; rob_id 8; load_rtl_data 7; timestamp 104;
event kCommitMemop; hart_id 0; rob_id 8; timestamp 110;
event kCreateMemop; hart_id 1; rob_id 9; rv_instruction 12984867; branch_mask 0; timestamp 91;
event kAddMemopAddress; hart_id 1; rob_id 9; memop_size 2; address 8192; memop_id 0; timestamp 105;
event kAddStoreData; hart_id 1; rob_id 9; store_data 9; timestamp 106;
event kCommitMemop; hart_id 1; rob_id 9; timestamp 111;
";

const GEM5: &str = "\
   1000: system.cpu0: T0 : 0x10090 @main    : c_li a5, 42 : IntAlu :  D=0x000000000000002a  flags=(IsInteger)
   1500: system.cpu0: T0 : 0x10094 @main+4    : sw a5, 0(a4) : MemWrite :  D=0x000000000000002a A=0x80002000
   1500: system.cpu1: T0 : 0x10194    : c_lw a0, 0(a1)             : MemRead :  D=0x000000000000002a A=0x80002000
   2000: system.cpu0: T0 : 0x10098    : fence rw, w : No_OpClass :
   2500: system.cpu0: T0 : 0x1009c    : amoadd_w_aq a0, a5, (a2)
   2500: system.cpu0: T0 : 0x1009c. 0 :   amoadd_w[l] a0, a5, (a2) : MemRead :  D=0x0000000000000001 A=0x80002040
   2500: system.cpu0: T0 : 0x1009c. 1 :   0x04f6252f fence : No_OpClass :
   3000: system.cpu1: T0 : 0x10198    : lr_w a0, (a1)
   3000: system.cpu1: T0 : 0x10198. 0 :   lr_w a0, (a1) : MemRead :  D=0x000000000000002b A=0x80002040
   3500: system.cpu1: T0 : 0x1019c    : ecall : IntAlu :
";

/// The log with lines repeated, dropped and swapped, and bytes changed.
fn mutated(log: &str, rng: &mut Rng) -> Vec<u8> {
    let mut lines: Vec<&str> = log.lines().collect();
    for _ in 0..rng.below(4) {
        let (a, b) = (rng.below(lines.len()), rng.below(lines.len()));
        match rng.below(3) {
            0 => lines.swap(a, b),
            1 => lines.insert(a, lines[b]),
            _ if lines.len() > 1 => drop(lines.remove(a)),
            _ => {}
        }
    }
    let mut bytes = lines.join("\n").into_bytes();
    const BYTES: &[u8] = b"0123456789abcdefx ()=:;#+\n\0\xff-";
    for _ in 0..rng.below(6) {
        let at = rng.below(bytes.len());
        match rng.below(4) {
            0 => bytes.truncate(at.max(1)),
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, BYTES[rng.below(BYTES.len())]),
            _ => bytes[at] = BYTES[rng.below(BYTES.len())],
        }
        if bytes.is_empty() {
            bytes.push(b'\n');
        }
    }
    bytes
}

fn again(history: &History, format: Format) {
    let text = format.text(history);
    let options = ReadOptions { format, thin_air: ThinAir::Violation, ..ReadOptions::default() };
    let again = TraceReader::new(text.as_bytes(), "again", options).next_trace();
    let again = again.unwrap_or_else(|error| panic!("{}\n{text}", error.render(false)));
    assert_eq!(again.as_ref(), Some(history), "{text}");
}

#[test]
fn logs_are_read_or_refused_at_a_place() {
    let trials = std::env::var("TRIBUNAL_TRIALS").ok().and_then(|n| n.parse().ok()).unwrap_or(4000);
    let formats = [
        (Format::Spike, SPIKE),
        (Format::Rvfi, RVFI),
        (Format::Whisper, WHISPER),
        (Format::M3, M3),
        (Format::Gem5, GEM5),
    ];
    for (format, log) in formats {
        let (mut read, mut refused) = (0_u64, 0_u64);
        for seed in 0..trials {
            let mut rng = Rng::numbered(11, seed);
            let bytes = mutated(log, &mut rng);
            let discarded_amo = match rng.below(3) {
                0 => DiscardedAmo::Refused,
                1 => DiscardedAmo::Recorded,
                _ => DiscardedAmo::Store,
            };
            let commits = CommitOptions {
                shared_only: rng.below(2) == 0,
                keep_prefix: rng.below(2) == 0,
                skip_unknown: rng.below(2) == 0,
                discarded_amo,
                xlen: None,
            };
            let thin_air = ThinAir::Violation;
            let options = ReadOptions { format, thin_air, commits, ..ReadOptions::default() };
            match TraceReader::new(&bytes[..], "log", options).next_trace() {
                Ok(Some(history)) => {
                    read += 1;
                    again(&history, Format::Text);
                    again(&history, Format::JsonLines);
                    let half = history.retain(|event| event.index() % 2 == 0, Lines::All);
                    if let Ok(half) = half {
                        again(&half, Format::Text);
                    }
                }
                Ok(None) => {}
                Err(error) => {
                    refused += 1;
                    assert!(error.line > 0 && error.column > 0, "{error}");
                }
            }
        }
        assert!(
            read > trials / 5 && refused > trials / 20,
            "{format}: {read} read, {refused} refused"
        );
    }
}
