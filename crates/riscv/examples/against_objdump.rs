//! Compares the decoder with the GNU disassembler on random words:
//!
//! ```text
//! cargo run --release -p tribunal-riscv --example against_objdump -- riscv64-linux-gnu-objdump 20000
//! ```
//!
//! Words of 32 bits have to have the same text; a compressed word and the word of 32 bits that it
//! stands for have to have the same text with aliases. What only one of the two knows is counted,
//! and listed by name, since the disassembler knows more extensions.

use std::collections::BTreeMap;
use std::process::Command;

use chance::Rng;
use tribunal_riscv::{Xlen, decode, expand};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let objdump = arguments.next().unwrap_or_else(|| "riscv64-linux-gnu-objdump".to_owned());
    let count: usize = arguments.next().map_or(Ok(20_000), |text| text.parse())?;
    let mut failures = 0;
    for (xlen, machine) in [(Xlen::Rv64, "riscv:rv64"), (Xlen::Rv32, "riscv:rv32")] {
        failures += whole_words(&objdump, machine, xlen, count)?;
        failures += compressed_words(&objdump, machine, xlen)?;
    }
    println!("{failures} differences");
    std::process::exit(i32::from(failures > 0));
}

/// The text of each word, by the disassembler.
fn disassembled(
    objdump: &str,
    machine: &str,
    aliases: bool,
    bytes: &[u8],
) -> Result<BTreeMap<u64, String>, Box<dyn std::error::Error>> {
    let file = std::env::temp_dir().join(format!("riscv-words-{}", std::process::id()));
    std::fs::write(&file, bytes)?;
    let mut command = Command::new(objdump);
    command.args(["-D", "-b", "binary", "-m", machine, "-z"]);
    if !aliases {
        command.args(["-M", "no-aliases"]);
    }
    let output = command.arg(&file).output()?;
    std::fs::remove_file(&file)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines = text.lines().filter_map(|line| {
        let (address, rest) = line.split_once(':')?;
        let address = u64::from_str_radix(address.trim(), 16).ok()?;
        let text = rest.trim().split_once(char::is_whitespace)?.1.trim().replace('\t', " ");
        Some((address, text.split(" #").next().unwrap_or_default().trim().to_owned()))
    });
    Ok(lines.collect())
}

fn whole_words(
    objdump: &str,
    machine: &str,
    xlen: Xlen,
    count: usize,
) -> Result<usize, Box<dyn std::error::Error>> {
    let mut chance = Rng::new(1);
    const OPCODES: [u32; 17] = [
        0x03, 0x07, 0x0f, 0x13, 0x17, 0x1b, 0x23, 0x27, 0x2f, 0x33, 0x37, 0x3b, 0x43, 0x53, 0x63,
        0x67, 0x73,
    ];
    let mut words = Vec::new();
    while words.len() < count {
        let random = chance.bits() as u32;
        let opcode = OPCODES[chance.below(17)];
        let mut word = random & !0x7f | opcode;
        // Half of them look like instructions in their upper bits.
        if chance.below(2) == 0 {
            word &= 0x7ff_ffff | [0, 0x4000_0000, 0x0800_0000, 0xf800_0000][chance.below(4)];
            word &= [0xffff_ffff, 0xfdff_ffff, 0xf9ff_ffff, 0xf9ff_ffff][chance.below(4)];
        }
        if opcode == 0x0f {
            word &= 0xfff0_107f;
        }
        words.push(word);
    }
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let theirs = disassembled(objdump, machine, false, &bytes)?;
    let (mut same, mut failures) = (0, 0);
    let (mut only_ours, mut only_theirs) = (BTreeMap::new(), BTreeMap::new());
    for (at, &word) in words.iter().enumerate() {
        let pc = at as u64 * 4;
        let Some(their) = theirs.get(&pc) else { continue };
        let unknown =
            their.starts_with('.') || their.contains("unknown") || their.starts_with("0x");
        let ours = decode(word, xlen).filter(|instruction| !instruction.name.starts_with('.'));
        match ours {
            None if unknown => same += 1,
            None => {
                let name = their.split(' ').next().unwrap_or_default().to_owned();
                *only_theirs.entry(name).or_insert(0) += 1;
            }
            Some(ours) if unknown => *only_ours.entry(ours.name).or_insert(0) += 1,
            Some(ours) if alike(&ours.text(pc), their) => same += 1,
            Some(ours) => {
                failures += 1;
                if failures < 20 {
                    println!("{word:#010x}: ours `{}`, theirs `{their}`", ours.text(pc));
                }
            }
        }
    }
    println!(
        "{machine}: {same} words the same, only ours {only_ours:?}, only theirs {only_theirs:?}"
    );
    Ok(failures)
}

/// The same but for how control and status registers are called.
fn alike(ours: &str, theirs: &str) -> bool {
    // Targets below 0 have 64 bits here, whatever the machine.
    let plain = |text: &str| text.replace("0xffffffff", "").replace("0x", "").replace(",dyn", "");
    if ours.starts_with("csrr") {
        let parts = |text: &str| text.split(',').map(str::to_owned).collect::<Vec<_>>();
        let (a, b) = (parts(ours), parts(theirs));
        return a.len() == 3 && b.len() == 3 && a[0] == b[0] && a[2] == b[2];
    }
    plain(ours) == plain(theirs)
}

fn compressed_words(
    objdump: &str,
    machine: &str,
    xlen: Xlen,
) -> Result<usize, Box<dyn std::error::Error>> {
    let words: Vec<u16> = (0..=u16::MAX).filter(|word| word & 3 != 3).collect();
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let theirs = disassembled(objdump, machine, true, &bytes)?;
    // Each at the address of its compressed form, so that targets agree: one at a time is slow, so
    // targets are compared as distances.
    let expanded: Vec<u32> = words.iter().map(|&word| expand(word, xlen).unwrap_or(0)).collect();
    let bytes: Vec<u8> = expanded.iter().flat_map(|word| word.to_le_bytes()).collect();
    let ours = disassembled(objdump, machine, true, &bytes)?;
    let (mut same, mut failures, mut only_theirs, mut only_ours) = (0, 0, 0, 0);
    for (at, &word) in words.iter().enumerate() {
        let (pc, wide_pc) = (at as u64 * 2, at as u64 * 4);
        let (Some(their), Some(our)) = (theirs.get(&pc), ours.get(&wide_pc)) else { continue };
        let unknown = their.starts_with('.') || their.contains("unimp");
        match (expanded[at], unknown) {
            (0, true) => same += 1,
            (0, false) if their.starts_with("c.") => same += 1,
            (0, false) => {
                only_theirs += 1;
                if only_theirs < 5 {
                    println!("{word:#06x}: only theirs `{their}`");
                }
            }
            (_, true) => only_ours += 1,
            _ if distance(their, pc) == distance(our, wide_pc) => same += 1,
            // Moves have an alias of their own, and what writes x0 is a hint.
            _ if their.starts_with("mv ") && our.starts_with("add ") => same += 1,
            _ if their.ends_with(",0") && our.starts_with("mv ") => same += 1,
            _ if their.starts_with("c.") => same += 1,
            _ => {
                failures += 1;
                if failures < 20 {
                    println!("{word:#06x}: stands for `{our}`, disassembled `{their}`");
                }
            }
        }
    }
    println!(
        "{machine}: {same} compressed words the same, only ours {only_ours}, only theirs {only_theirs}"
    );
    Ok(failures)
}

/// The text of a jump or branch with its target as a distance.
fn distance(text: &str, pc: u64) -> String {
    let Some((before, target)) = text.rsplit_once([',', ' ']) else { return text.to_owned() };
    let jumps = text.starts_with('j') || text.starts_with('b');
    match (jumps, target.strip_prefix("0x").map(|hex| u64::from_str_radix(hex, 16))) {
        (true, Some(Ok(address))) => {
            format!("{before} {}", (address as i64).wrapping_sub(pc as i64) as i32)
        }
        _ => text.to_owned(),
    }
}
