//! Random programs with scalarsets and few states, in which the order of members nearly shows.
//!
//! Members die, hold small numbers, point at each other and lie in a multiset; tables are too short for
//! some of the numbers, references are undefined for a while, quantifiers and loops decide before they
//! get to the member that fails, functions return from the middle of a loop, add up, pick and exclude.
//! Nothing here knows which of it is a symmetry.

use murphi::random::Random;

/// A program.
pub(crate) fn program(seed: u64) -> String {
    let random = Random::new(seed);
    let mut writer = Writer { random, second: false, more: false, binders: 0, callable: 0 };
    match writer.random.chance(25) {
        true => writer.looking(),
        false => writer.program(),
    }
}

struct Writer {
    random: Random,
    /// Whether there is a second scalarset.
    second: bool,
    /// Whether there are an array in an array, a record of an array and a parameter that is changed.
    more: bool,
    binders: usize,
    /// How many functions there are to call.
    callable: usize,
}

impl Writer {
    fn one(&mut self, of: &[&str]) -> String {
        of[self.random.below(of.len())].to_owned()
    }

    fn fresh(&mut self) -> String {
        self.binders += 1;
        format!("q{}", self.binders)
    }

    fn program(&mut self) -> String {
        let size = 2 + self.random.below(2);
        self.second = self.random.chance(25);
        self.more = self.random.chance(25);
        let second = if self.second { "Q: scalarset(2); " } else { "" };
        let held = if self.second { "held: Q; " } else { "" };
        let last = [0, 1, 1, 2, 2, 2][self.random.below(6)];
        let mut text = format!(
            "type P: scalarset({size}); {second}Tag: enum {{ none, lost }}; U: union {{ P, Tag }};\n\
             var dead: array [P] of boolean; st: array [P] of 0..2; t: array [0..{last}] of boolean;\n\
             ref: P; next: array [P] of P; who: U; n: 0..3; ok: boolean; bag: multiset [2] of P; {held}\n"
        );
        if self.more {
            text += "grid: array [P] of array [P] of boolean;\n\
                     dir: record has: array [P] of boolean; head: P; end;\n\
                     procedure up(var x: 0..2); begin if x = 2 then return; end; x := x + 1; end;\n";
        }
        for number in 0..2 {
            text += &self.function(number);
            self.callable += 1;
        }
        text += &self.start(last);
        for number in 0..2 + self.random.below(4) {
            text += &self.rule(number);
        }
        for _ in 0..self.random.below(3) {
            text += &self.property();
        }
        text
    }

    /// A program in which nothing goes wrong but what is looked for among members: one fails, others
    /// decide before it, and which comes first depends on the order.
    fn looking(&mut self) -> String {
        let (size, last) = (2 + self.random.below(2), self.random.below(2));
        let filled = self.one(&["true", "true", "false"]);
        let mut text = format!(
            "type P: scalarset({size}); Tag: enum {{ none, lost }};\n\
             var dead: array [P] of boolean; st: array [P] of 0..2; t: array [0..{last}] of boolean;\n\
             ok: boolean; bag: multiset [{size}] of P;\n\
             startstate begin for p: P do dead[p] := false; st[p] := 0; MultisetAdd(p, bag); end;\n\
             for i: 0..{last} do t[i] := {filled}; end; ok := true; end;\n\
             ruleset p: P do rule \"die\" forall q: P do !dead[q] end ==> begin dead[p] := true; end; end;\n\
             ruleset p: P do rule \"one\" !dead[p] & (exists q: P do dead[q] end) ==> begin st[p] := 1; end; end;\n"
        );
        if self.random.chance(60) {
            text += "ruleset p: P do rule \"two\" dead[p] & (exists q: P do st[q] = 1 end) ==> begin st[p] := 2; end; end;\n";
        }
        for number in 0..1 + self.random.below(2) {
            text += &self.looks(number);
        }
        text
    }

    /// A condition about a member that may fail for it.
    fn failing(&mut self, member: &str) -> String {
        let texts = [
            "t[st[@]]",
            "!t[st[@]]",
            "(dead[@] | t[st[@]])",
            "(!dead[@] | !t[st[@]])",
            "(st[@] = 0 | t[st[@]])",
            "(!dead[@] & t[st[@]])",
            "(9 / (1 - st[@]) > 0)",
            "(exists z: P do z != @ & t[st[z]] end)",
            "(dead[@] -> t[st[@]])",
            "(dead[@] ? true : t[st[@]])",
        ];
        self.one(&texts).replace('@', member)
    }

    /// Something that looks for a member.
    fn looks(&mut self, number: usize) -> String {
        let (c, b) = (self.failing("q"), self.failing("bag[i]"));
        let found = self.one(&["true", "false"]);
        let function = |body: &str| {
            format!(
                "function g{number}(): boolean; var k: 0..2; begin {body} end;\n\
                 rule \"g{number}\" g{number}() ==> begin ok := !ok; end;\n"
            )
        };
        match self.random.below(9) {
            0 | 1 => function(&format!(
                "for q: P do if {c} then return {found}; end; end; return !{found};"
            )),
            2 => function(&format!(
                "for q: P do k := st[q]; if dead[q] then return {found}; end; if {c} then return {found}; end; end; return ok;"
            )),
            3 => format!("rule begin for q: P do if {c} then return; end; end; ok := !ok; end;\n"),
            4 => format!("rule exists q: P do {c} end ==> begin ok := !ok; end;\n"),
            5 => format!("rule forall q: P do {c} end ==> begin ok := !ok; end;\n"),
            6 => format!("rule MultisetCount(i: bag, {b}) > 0 ==> begin ok := !ok; end;\n"),
            7 => format!("ruleset q: P do invariant \"i\" {c} | true; end;\n"),
            _ => format!("rule begin for q: P do if {c} then ok := false; end; end; end;\n"),
        }
    }

    fn function(&mut self, number: usize) -> String {
        let q = self.fresh();
        let condition = self.condition(&["a", &q], 1);
        let body = match self.random.below(8) {
            0 => format!("for {q}: P do if {condition} then return true; end; end; return false;"),
            1 if self.random.chance(30) => {
                format!("for {q}: P do if {condition} then return {q} = a; end; end; return false;")
            }
            2 => format!(
                "for {q}: P do k := st[{q}]; if k = 0 then return false; end; end; return {condition2};",
                condition2 = self.condition(&["a"], 0)
            ),
            3 => format!(
                "assume {}; return {};",
                self.condition(&["a"], 0),
                self.condition(&["a"], 1)
            ),
            4 => format!(
                "k := 0; for {q}: P do if {condition} then k := k + 1; end; end; return k > 1;"
            ),
            5 => format!(
                "k := 2; for {q}: P do if st[{q}] < k then k := st[{q}]; end; end; return t[k];"
            ),
            6 => format!(
                "if {} then return {}; end; return {};",
                self.condition(&["a"], 0),
                self.condition(&["a"], 0),
                self.condition(&["a"], 1)
            ),
            _ => format!("return {};", self.condition(&["a"], 2)),
        };
        format!("function f{number}(a: P): boolean; var k: 0..3; begin {body} end;\n")
    }

    fn start(&mut self, last: usize) -> String {
        let some = |writer: &mut Writer, percent: u64, statement: &str| {
            if writer.random.chance(percent) { statement.to_owned() } else { String::new() }
        };
        let mut body = String::from("for p: P do dead[p] := false; ");
        body += &some(self, 90, "st[p] := 0; ");
        body += &some(self, 75, "next[p] := p; ");
        body += "end; t[0] := true; ok := true; n := 0; ";
        body +=
            &some(self, 85, "for i: 0..@ do t[i] := false; end; ").replace('@', &last.to_string());
        body += &some(self, 85, "who := none; ");
        if self.more {
            body += "for p: P do dir.has[p] := false; for q: P do grid[p][q] := p = q; end; end; ";
        }
        let by_member = self.random.chance(65);
        if by_member {
            body += "ref := r; ";
            body += &some(self, 50, "MultisetAdd(r, bag); ");
        }
        if self.second && self.random.chance(50) {
            return format!("ruleset r: P; h: Q do startstate begin {body} held := h; end; end;\n");
        }
        match by_member {
            true => format!("ruleset r: P do startstate begin {body} end; end;\n"),
            false => format!("startstate begin {body} end;\n"),
        }
    }

    fn rule(&mut self, number: usize) -> String {
        let member = self.random.chance(75);
        let choose = self.random.chance(20);
        let mut names: Vec<&str> = Vec::new();
        if member {
            names.push("p");
        }
        if choose {
            names.push("bag[x]");
        }
        let guard = self.condition(&names, 2);
        let mut body = String::new();
        for _ in 0..1 + self.random.below(2) {
            body += &self.statement(&names, 1);
        }
        if choose && self.random.chance(60) {
            body += "MultisetRemove(x, bag); ";
        } else if choose && self.random.chance(50) {
            body += "e := bag[x]; MultisetRemove(x, bag); MultisetAdd(e, bag); ";
        }
        let mut text =
            format!("rule \"r{number}\" {guard} ==> var k: 0..3; e: P; begin {body}end;");
        if choose {
            text = format!("choose x: bag do {text} end;");
        }
        if member {
            text = format!("ruleset p: P do {text} end;");
        }
        text + "\n"
    }

    fn property(&mut self) -> String {
        match self.random.below(5) {
            0 => {
                let condition = self.condition(&["p"], 1);
                let or = self.one(&["", " | ok | !ok", " | ok | !ok"]);
                format!("ruleset p: P do invariant \"each\" {condition}{or}; end;\n")
            }
            1 => {
                let condition = self.condition(&["p"], 1);
                format!("ruleset p: P do assume \"each\" {condition}; end;\n")
            }
            2 => format!("cover \"some\" {};\n", self.condition(&[], 1)),
            _ => format!("invariant \"all\" {} | ok | !ok;\n", self.condition(&[], 2)),
        }
    }

    fn member(&mut self, names: &[&str]) -> String {
        match self.random.below(10) {
            0 => "ref".to_owned(),
            1 if !names.is_empty() => format!("next[{}]", names[0]),
            _ if names.is_empty() => "ref".to_owned(),
            _ => names[self.random.below(names.len())].to_owned(),
        }
    }

    fn number(&mut self, names: &[&str]) -> String {
        match self.random.below(8) {
            0 => "n".to_owned(),
            1 => self.one(&["0", "1", "2"]),
            2 => "MultisetCount(i: bag, true)".to_owned(),
            3 if self.random.chance(40) => {
                let (one, other) = (self.member(names), self.member(names));
                format!("st[{one}] + st[{other}]")
            }
            _ => {
                let member = self.member(names);
                format!("st[{member}]")
            }
        }
    }

    fn condition(&mut self, names: &[&str], depth: usize) -> String {
        if depth == 0 || self.random.chance(35) {
            return self.atom(names);
        }
        match self.random.below(9) {
            0 => format!("!({})", self.condition(names, depth - 1)),
            1 | 2 => {
                let operator = self.one(&["&", "|", "->"]);
                let (left, right) =
                    (self.condition(names, depth - 1), self.condition(names, depth - 1));
                format!("(({left}) {operator} ({right}))")
            }
            3..=6 => {
                let (quantifier, q) = (self.one(&["forall", "exists"]), self.fresh());
                let domain = self.one(&["P", "P", "P", "P", "U", "0..2"]);
                let mut inside = names.to_vec();
                match domain.as_str() {
                    "P" => inside.push(&q),
                    "U" => {
                        let inner = self.condition(names, depth - 1);
                        return format!("{quantifier} {q}: U do {inner} -> who != {q} end");
                    }
                    _ => {
                        let inner = self.condition(names, depth - 1);
                        let number = self.number(names);
                        return format!("{quantifier} {q}: 0..2 do {number} = {q} & {inner} end");
                    }
                }
                let inner = self.condition(&inside, depth - 1);
                format!("{quantifier} {q}: P do {inner} end")
            }
            7 => {
                let inner = self.condition(&[names, &["bag[j]"]].concat(), 0);
                format!("MultisetCount(j: bag, {inner}) {} 1", self.one(&["=", "<", ">"]))
            }
            _ => {
                let (test, yes, no) =
                    (self.atom(names), self.condition(names, depth - 1), self.atom(names));
                format!("(({test}) ? ({yes}) : ({no}))")
            }
        }
    }

    fn atom(&mut self, names: &[&str]) -> String {
        let member = self.member(names);
        match self.random.below(16) {
            0 | 1 => format!("t[st[{member}]]"),
            2 | 3 => format!("dead[{member}]"),
            4 => format!("!dead[{member}]"),
            5 => format!("{} = {}", self.number(names), self.number(names)),
            6 => format!("{} < {}", self.number(names), self.number(names)),
            7 => format!("isundefined(st[{member}])"),
            8 => "isundefined(ref)".to_owned(),
            9 => format!("{} {} {member}", self.member(names), self.one(&["=", "!="])),
            10 => format!("next[{member}] {} {}", self.one(&["=", "!="]), self.member(names)),
            11 => format!("who {} {member}", self.one(&["=", "!="])),
            12 if self.callable > 0 => format!("f{}({member})", self.random.below(self.callable)),
            13 if self.second => "exists h: Q do held = h & ok end".to_owned(),
            14 => format!("t[{}]", self.number(names)),
            15 if self.more => match self.random.below(4) {
                0 => format!("dir.has[{member}]"),
                1 => format!("dir.head = {member}"),
                2 => format!("(exists z{0}: P do grid[z{0}][{member}] end)", self.binders),
                _ => format!("grid[{}][{member}]", self.member(names)),
            },
            _ => self.one(&["ok", "ismember(who, P)", "true"]),
        }
    }

    fn statement(&mut self, names: &[&str], depth: usize) -> String {
        let member = self.member(names);
        match self.random.below(22) {
            0..=2 => format!("dead[{member}] := {}; ", self.one(&["true", "true", "false", "!ok"])),
            3..=5 => {
                let number = self.one(&["0", "1", "2", "st[@] = 0 ? 1 : 0", "st[@]"]);
                format!("st[{member}] := {}; ", number.replace('@', &member))
            }
            6 => format!("ref := {member}; "),
            7 => self.one(&["undefine ref; ", "ok := !ok; ", "undefine st; "]),
            8 => format!("next[{member}] := {}; ", self.member(names)),
            9 => format!("who := {}; ", self.one(&[&member, "none", "lost"])),
            10 => self.one(&[
                "if n < 3 then n := n + 1; end; ",
                "n := 0; ",
                "if n > 0 then n := n - 1; end; ",
                "n := n + 1; ",
            ]),
            11 => {
                format!("if MultisetCount(i: bag, true) < 2 then MultisetAdd({member}, bag); end; ")
            }
            12 => {
                let inner = self.condition(&[names, &["bag[j]"]].concat(), 0);
                format!("MultisetRemovePred(j: bag, {inner}); ")
            }
            13 => format!("assert {} | ok | !ok; ", self.condition(names, 2)),
            14 => format!("cover {}; ", self.condition(names, 1)),
            15 if depth > 0 => format!(
                "if {} then {}end; ",
                self.condition(names, 1),
                self.statement(names, depth - 1)
            ),
            16 if self.second => "for h: Q do if h = held then ok := true; end; end; ".to_owned(),
            17 => format!("if {} then return; end; ", self.condition(names, 1)),
            18 => self.elaborate(names),
            _ if depth > 0 => self.repeat(names),
            _ => format!("ok := {}; ", self.condition(names, 1)),
        }
    }

    /// What needs more of the language.
    fn elaborate(&mut self, names: &[&str]) -> String {
        let (member, other) = (self.member(names), self.member(names));
        let texts = [
            format!("switch {member} case {other}: ok := !ok; else n := 0; end; "),
            format!("switch st[{member}] case 0: ok := true; case 1, 2: ref := {member}; end; "),
            "while n < 2 do n := n + 1; end; ".to_owned(),
            format!("alias a: st[{member}] do if a < 2 then a := a + 1; end; end; "),
            format!("alias a: {member} do dead[a] := !dead[{other}]; end; "),
            format!("up(st[{member}]); "),
            format!("dir.has[{member}] := !dir.has[{member}]; dir.head := {other}; "),
            format!("grid[{member}][{other}] := !grid[{member}][{other}]; "),
            format!("for y: P do grid[{member}][y] := grid[y][{other}]; end; "),
        ];
        let at = self.random.below(if self.more { 4 } else { 5 });
        texts[if self.more { 5 + at } else { at }].clone()
    }

    /// A loop over members.
    fn repeat(&mut self, names: &[&str]) -> String {
        let q = self.fresh();
        let inside = [names, &[q.as_str()]].concat();
        let condition = self.condition(&inside, 1);
        let mut body = match self.random.below(18) {
            0 => format!("if {condition} then return; end; "),
            1 => format!("if {condition} then ref := {q}; end; "),
            2 => format!("if {condition} then n := n + 1; end; "),
            3 => format!("if {condition} then n := n + 1; else n := n - 1; end; "),
            4 => format!("if {condition} then ok := true; end; "),
            5 => format!("ok := ok & {condition}; "),
            6 => format!("k := st[{q}]; st[{q}] := k; "),
            7 => format!("if {condition} then MultisetAdd({q}, bag); end; "),
            8 => format!("st[{q}] := {}; ", self.one(&["0", "1", "n"])),
            9 => format!("if {condition} then st[{q}] := 0; return; end; "),
            10 => format!("if {condition} then undefine next[{q}]; end; "),
            11 => self.statement(&inside, 0),
            12 | 13 => format!("if {condition} then next[{q}] := {q}; end; "),
            14 => format!("assert {condition} | ok | !ok; "),
            _ => {
                format!("if {condition} then dead[{q}] := {}; end; ", self.one(&["true", "false"]))
            }
        };
        if self.random.chance(10) {
            body += &self.statement(&[&q], 0);
        }
        if self.random.chance(15) {
            let assumed = format!("assume {}; ", self.condition(&inside, 1));
            body = if self.random.chance(50) { assumed + &body } else { body + &assumed };
        }
        format!("for {q}: P do {body}end; ")
    }
}
