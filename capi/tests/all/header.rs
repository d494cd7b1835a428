//! The header and the SystemVerilog package declare what the crate exports, no more and no less.

use std::path::Path;

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// An exported function: its name, its parameters as name and Rust type, what it returns.
struct Function {
    name: String,
    parameters: Vec<(String, String)>,
    returns: String,
}

/// The functions of border.rs that have C linkage.
fn functions() -> Vec<Function> {
    let text = read("src/border.rs");
    let parts = text.split("extern \"C\" fn ").skip(1);
    let function = |part: &str| {
        let (name, rest) = part.split_once('(').unwrap();
        let (parameters, rest) = rest.split_once(')').unwrap();
        let returns = rest.split_once("->").unwrap().1.split_once('{').unwrap().0.trim();
        let parameters = parameters.split(',').map(str::trim).filter(|one| !one.is_empty());
        let parameters = parameters.map(|one| {
            let (name, kind) = one.split_once(':').unwrap();
            (name.trim().to_owned(), kind.trim().to_owned())
        });
        let (name, returns) = (name.to_owned(), returns.to_owned());
        Function { name, parameters: parameters.collect(), returns }
    };
    parts.map(function).collect()
}

/// The constants of status.rs.
fn constants() -> Vec<(String, String)> {
    let text = read("src/status.rs");
    let lines = text.lines().filter_map(|line| line.strip_prefix("pub const "));
    let constant = |line: &str| {
        let (name, rest) = line.split_once(':').unwrap();
        (name.to_owned(), rest.split_once("= ").unwrap().1.trim_end_matches(';').to_owned())
    };
    lines.map(constant).collect()
}

fn in_c(kind: &str) -> &'static str {
    match kind {
        "u32" => "uint32_t ",
        "u64" => "uint64_t ",
        "i32" => "int32_t ",
        "*const c_char" => "const char *",
        "*mut u64" => "uint64_t *",
        "*const tribunal_settings" => "const tribunal_settings *",
        other => panic!("{other} has no type in C"),
    }
}

fn in_system_verilog(kind: &str) -> Option<&'static str> {
    match kind {
        "u32" => Some("int unsigned"),
        "u64" | "*mut u64" => Some("longint unsigned"),
        "i32" => Some("int"),
        "*const c_char" => Some("string"),
        _ => None,
    }
}

#[test]
fn the_header_declares_what_is_exported() {
    let header = read("include/tribunal.h");
    let functions = functions();
    assert!(functions.len() >= 14, "{}", functions.len());
    for Function { name, parameters, returns } in &functions {
        let list: Vec<String> =
            parameters.iter().map(|(name, kind)| format!("{}{name}", in_c(kind))).collect();
        let list = if list.is_empty() { "void".to_owned() } else { list.join(", ") };
        let prototype = format!("\n{}{name}({list});\n", in_c(returns));
        assert!(header.contains(&prototype), "the header lacks {prototype}");
    }
    let declared = header.lines().filter(|line| line.ends_with(");") && !line.starts_with(" *"));
    assert_eq!(declared.count(), functions.len(), "the header declares more than is exported");
    for (name, value) in constants() {
        let defined = format!("#define {name} {value}");
        let found = header.lines().any(|line| line.split("/*").next().unwrap().trim() == defined);
        assert!(found, "the header lacks {defined}");
    }
}

#[test]
fn the_fields_of_the_settings_are_those_of_the_header() {
    let (source, header) = (read("src/border.rs"), read("include/tribunal.h"));
    let body = source.split("pub struct tribunal_settings {").nth(1).unwrap();
    let fields = body.split('}').next().unwrap().lines();
    let fields = fields.filter_map(|line| line.trim().strip_prefix("pub "));
    let fields: Vec<String> = fields
        .map(|field| {
            let (name, kind) = field.trim_end_matches(',').split_once(": ").unwrap();
            format!("{}{name};", in_c(kind))
        })
        .collect();
    let declared = header.split("typedef struct tribunal_settings {").nth(1).unwrap();
    let declared = declared.split('}').next().unwrap().lines();
    let declared: Vec<&str> = declared
        .map(|line| line.split("/*").next().unwrap().trim())
        .filter(|f| !f.is_empty())
        .collect();
    assert_eq!(fields, declared);
}

#[test]
fn the_package_for_system_verilog_imports_what_it_can() {
    let package = read("dpi/tribunal_pkg.sv").replace(['\n', ' '], "");
    let mut imported = 0;
    for Function { name, parameters, returns } in functions() {
        let kinds: Option<Vec<_>> =
            parameters.iter().map(|(_, kind)| in_system_verilog(kind)).collect();
        let Some(kinds) = kinds else {
            assert!(!package.contains(&name), "{name} cannot be imported");
            continue;
        };
        let returns = in_system_verilog(&returns).unwrap().replace(' ', "");
        let head = format!("import\"DPI-C\"function{returns}{name}(");
        let at = package.find(&head).unwrap_or_else(|| panic!("the package lacks {name}"));
        let list = package[at + head.len()..].split(')').next().unwrap();
        let list: Vec<&str> = list.split(',').filter(|one| !one.is_empty()).collect();
        assert_eq!(list.len(), kinds.len(), "{name}");
        for ((declared, kind), (_, rust)) in list.iter().zip(kinds).zip(&parameters) {
            let direction = if rust.starts_with("*mut") { "output" } else { "input" };
            let start = format!("{direction}{}", kind.replace(' ', ""));
            assert!(declared.starts_with(&start), "{name}: {declared} is not {start}");
        }
        imported += 1;
    }
    assert_eq!(package.matches("import\"DPI-C\"").count(), imported);
    for (name, value) in constants() {
        assert!(package.contains(&format!("{name}={value};")), "the package lacks {name}");
    }
}
