//! Random Murphi models in the style of generated directories: what ProtoGen and its descendants
//! print, with everything that makes such models large.
//!
//! Classes of caches (a scalarset each) and a directory form a union of machines. Each machine has
//! a record of many fields for each address; messages travel in arrays with counters and in
//! multisets, one of either for each machine. A handler is a procedure with a `case` for each
//! state and message. What a handler does is drawn at random: the next state, whether the directory
//! answers, forwards to its owner (which is undefined at first, and compared all the same) or
//! invalidates its sharers, and which fields are noted on the way.
//!
//! Each message leads to messages of a later stage only (request, forward, response), and a cache
//! has one request under way, so networks never overflow and every model is finite. Models have no
//! meaning beyond that; they are to be explored, not believed.

use std::fmt::Write;

use chance::Rng;

/// How large a model is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Knobs {
    /// Which of all models of this size.
    pub(crate) seed: u64,
    /// Caches of each class; one or two classes.
    pub(crate) caches: Vec<usize>,
    /// Values of a cache line.
    pub(crate) values: usize,
    /// Kinds of requests.
    pub(crate) requests: usize,
    /// Fields of a cache line that are noted and rarely looked at.
    pub(crate) fields: usize,
    /// Messages that a network holds for a machine, beyond what can ever be under way.
    pub(crate) slack: usize,
    /// States of a machine in the source, most of which are never entered: what makes it long.
    pub(crate) states: usize,
}

/// The source of a model.
pub(crate) fn source(knobs: &Knobs) -> String {
    let mut writer = Writer { knobs, random: Rng::new(knobs.seed), text: String::new() };
    writer.declarations();
    writer.sending();
    for class in 0..knobs.caches.len() {
        writer.cache_handler(class);
    }
    writer.directory_handler();
    writer.rules();
    writer.start_state();
    writer.text
}

struct Writer<'a> {
    knobs: &'a Knobs,
    random: Rng,
    text: String,
}

/// The stages of messages. A message leads to messages of later stages only.
const STAGES: [&str; 3] = ["Get", "Fwd", "Data"];

impl Writer<'_> {
    fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref());
        self.text.push('\n');
    }

    fn all_caches(&self) -> usize {
        self.knobs.caches.iter().sum()
    }

    /// Room for all messages that can be on their way to a machine.
    fn capacity(&self) -> usize {
        2 * self.all_caches() + 1 + self.knobs.slack
    }

    /// Stable states of a cache that are entered.
    fn stable(&self) -> usize {
        self.knobs.requests + 1
    }

    fn declarations(&mut self) {
        let knobs = self.knobs;
        self.line(format!("-- A random directory protocol, seed {}.", knobs.seed));
        self.line("const");
        for (class, caches) in knobs.caches.iter().enumerate() {
            self.line(format!("  NrCaches{class} : {caches};"));
        }
        let (values, capacity, all) = (knobs.values, self.capacity(), self.all_caches());
        self.line(format!("  VAL_MAX : {};", values - 1));
        self.line(format!("  O_NET_MAX : {capacity};"));
        self.line(format!("  U_NET_MAX : {capacity};"));
        self.line(format!("  NrCaches : {all};"));
        self.line("type");
        self.line("  ClValue : 0..VAL_MAX;");
        self.line("  Count : 0..NrCaches;");
        let mut members = Vec::new();
        for class in 0..knobs.caches.len() {
            self.line(format!("  OBJSET_cache{class} : scalarset(NrCaches{class});"));
            members.push(format!("OBJSET_cache{class}"));
        }
        self.line("  OBJSET_directory : enum { directory };");
        members.push("OBJSET_directory".to_owned());
        self.line(format!("  Machines : union {{ {} }};", members.join(", ")));
        let mut kinds: Vec<String> = Vec::new();
        for stage in STAGES {
            kinds.extend((0..knobs.requests).map(|request| format!("{stage}{request}")));
        }
        kinds.extend(["Inv".to_owned(), "InvAck".to_owned()]);
        self.line(format!("  MessageType : enum {{ {} }};", kinds.join(", ")));
        for class in 0..knobs.caches.len() {
            let names: Vec<String> =
                (0..knobs.states).map(|state| format!("cache{class}_S{state}")).collect();
            self.line(format!("  s_cache{class} : enum {{ {} }};", names.join(", ")));
        }
        let names: Vec<String> =
            (0..knobs.states).map(|state| format!("directory_S{state}")).collect();
        self.line(format!("  s_directory : enum {{ {} }};", names.join(", ")));
        self.records();
    }

    fn records(&mut self) {
        self.line("  Message : record");
        for field in ["mtype : MessageType", "src : Machines", "requester : Machines"] {
            self.line(format!("    {field};"));
        }
        for field in ["acks : Count", "cl : ClValue", "dirty : boolean"] {
            self.line(format!("    {field};"));
        }
        self.line("  end;");
        for class in 0..self.knobs.caches.len() {
            self.line(format!("  ENTRY_cache{class} : record"));
            self.line(format!("    State : s_cache{class};"));
            self.line("    pending : boolean; wanted : MessageType;");
            self.line("    hasData : boolean; acksExpected : Count; acksReceived : Count;");
            self.line("    cl : ClValue; dirty : boolean;");
            self.fields();
            self.line("  end;");
            self.line(format!(
                "  OBJ_cache{class} : array [OBJSET_cache{class}] of ENTRY_cache{class};"
            ));
        }
        self.line("  ENTRY_directory : record");
        self.line("    State : s_directory;");
        self.line("    owner : Machines; cl : ClValue;");
        self.line("    sharers : array [Machines] of boolean;");
        self.fields();
        self.line("  end;");
        self.line("  FIFO : array [0..O_NET_MAX-1] of Message;");
        self.line("  NET_Ordered : array [Machines] of FIFO;");
        self.line("  NET_Ordered_cnt : array [Machines] of 0..O_NET_MAX;");
        self.line("  NET_Unordered : array [Machines] of multiset [U_NET_MAX] of Message;");
        self.line("var");
        for class in 0..self.knobs.caches.len() {
            self.line(format!("  i_cache{class} : OBJ_cache{class};"));
        }
        self.line("  i_directory : ENTRY_directory;");
        self.line("  fwd : NET_Ordered; cnt_fwd : NET_Ordered_cnt;");
        self.line("  req : NET_Unordered; resp : NET_Unordered;");
    }

    /// Fields that are noted on the way: machines, message types, values, flags.
    fn fields(&mut self) {
        for field in 0..self.knobs.fields {
            let ty = ["Machines", "MessageType", "ClValue", "boolean", "Count"][field % 5];
            self.line(format!("    note{field} : {ty};"));
        }
    }

    fn sending(&mut self) {
        self.line("procedure Send_fwd(msg : Message; dst : Machines);");
        self.line("begin");
        self.line("  assert \"too many messages\" cnt_fwd[dst] < O_NET_MAX;");
        self.line("  fwd[dst][cnt_fwd[dst]] := msg;");
        self.line("  cnt_fwd[dst] := cnt_fwd[dst] + 1;");
        self.line("end;");
        self.line("procedure Pop_fwd(dst : Machines);");
        self.line("begin");
        self.line("  for i := 0 to cnt_fwd[dst] - 1 do");
        self.line("    if i < cnt_fwd[dst] - 1 then");
        self.line("      fwd[dst][i] := fwd[dst][i + 1];");
        self.line("    else");
        self.line("      undefine fwd[dst][i];");
        self.line("    end;");
        self.line("  end;");
        self.line("  cnt_fwd[dst] := cnt_fwd[dst] - 1;");
        self.line("end;");
        for net in ["req", "resp"] {
            self.line(format!("procedure Send_{net}(msg : Message; dst : Machines);"));
            self.line("begin");
            self.line(format!(
                "  assert \"too many messages\" multisetcount(i : {net}[dst], true) < U_NET_MAX;"
            ));
            self.line(format!("  multisetadd(msg, {net}[dst]);"));
            self.line("end;");
        }
        self.line("function Make(mtype : MessageType; src : Machines; requester : Machines;");
        self.line("              acks : Count; cl : ClValue; dirty : boolean) : Message;");
        self.line("var msg : Message;");
        self.line("begin");
        for field in ["mtype", "src", "requester", "acks", "cl", "dirty"] {
            self.line(format!("  msg.{field} := {field};"));
        }
        self.line("  return msg;");
        self.line("end;");
        self.line("function Invalidate(requester : Machines; cl : ClValue) : Count;");
        self.line("var sent : Count;");
        self.line("begin");
        self.line("  sent := 0;");
        for class in 0..self.knobs.caches.len() {
            self.line(format!("  for n : OBJSET_cache{class} do"));
            self.line("    if i_directory.sharers[n] & n != requester then");
            self.line("      Send_fwd(Make(Inv, directory, requester, 0, cl, false), n);");
            self.line("      sent := sent + 1;");
            self.line("    end;");
            self.line("  end;");
            self.line(format!("  for n : OBJSET_cache{class} do"));
            self.line("    i_directory.sharers[n] := false;");
            self.line("  end;");
        }
        self.line("  return sent;");
        self.line("end;");
    }

    /// What is noted in a field of a record when a message comes.
    fn note(&mut self, indent: &str, place: &str) {
        for _ in 0..1 + self.random.below(2) {
            if self.knobs.fields == 0 {
                return;
            }
            let field = self.random.below(self.knobs.fields);
            let value = match field % 5 {
                0 => ["msg.src", "msg.requester"][self.random.below(2)],
                1 => "msg.mtype",
                2 => "msg.cl",
                3 => "msg.dirty",
                _ => "msg.acks",
            };
            // Most notes are wiped when a cache comes to rest, so they do not multiply states.
            let _ = writeln!(self.text, "{indent}{place}.note{field} := {value};");
        }
    }

    /// A handler of a class of caches, with a case for each state and message.
    fn cache_handler(&mut self, class: usize) {
        let knobs = self.knobs;
        self.completion(class);
        self.line(format!("procedure Func_cache{class}(msg : Message; m : OBJSET_cache{class});"));
        self.line("begin");
        self.line(format!("  alias c : i_cache{class}[m] do"));
        self.line("  switch c.State");
        for state in 0..knobs.states {
            self.line(format!("  case cache{class}_S{state}:"));
            self.line("    switch msg.mtype");
            for request in 0..knobs.requests {
                self.cache_forward(class, request);
            }
            for request in 0..knobs.requests {
                self.line(format!("    case Data{request}:"));
                self.line("      c.cl := msg.cl;");
                self.line("      c.hasData := true;");
                self.line("      c.acksExpected := msg.acks;");
                self.note("      ", "c");
                self.line(format!("      Complete{class}(m);"));
            }
            self.line("    case Inv:");
            self.line(
                "      Send_resp(Make(InvAck, m, msg.requester, 0, c.cl, c.dirty), msg.requester);",
            );
            self.line("      if !c.pending then");
            self.line(format!("        c.State := cache{class}_S0;"));
            self.line("        c.dirty := false;");
            self.line("      end;");
            self.line("    case InvAck:");
            self.line("      if c.acksReceived < NrCaches then");
            self.line("        c.acksReceived := c.acksReceived + 1;");
            self.line("      end;");
            self.line(format!("      Complete{class}(m);"));
            self.line("    else");
            self.line("      error \"a message that caches do not take\";");
            self.line("    end;");
        }
        self.line("  end;");
        self.line("  end;");
        self.line("end;");
    }

    fn cache_forward(&mut self, class: usize, request: usize) {
        let next = self.random.below(self.stable());
        let keeps = self.random.percent(50);
        self.line(format!("    case Fwd{request}:"));
        self.line(format!(
            "      Send_resp(Make(Data{request}, m, msg.requester, msg.acks, c.cl, c.dirty), msg.requester);"
        ));
        self.line("      if !c.pending then");
        self.line(format!("        c.State := cache{class}_S{next};"));
        if !keeps {
            self.line("        c.dirty := false;");
        }
        self.line("      end;");
    }

    /// When a cache has all that it waits for, it comes to rest.
    fn completion(&mut self, class: usize) {
        let knobs = self.knobs;
        self.line(format!("procedure Complete{class}(m : OBJSET_cache{class});"));
        self.line("begin");
        self.line(format!("  alias c : i_cache{class}[m] do"));
        self.line("  if c.pending & c.hasData & c.acksReceived >= c.acksExpected then");
        self.line("    switch c.wanted");
        for request in 0..knobs.requests {
            let next = 1 + self.random.below(self.stable() - 1);
            self.line(format!("    case Get{request}:"));
            self.line(format!("      c.State := cache{class}_S{next};"));
            if self.random.percent(40) {
                self.line("      c.dirty := true;");
            }
        }
        self.line("    end;");
        self.line("    c.pending := false; c.hasData := false;");
        self.line("    c.acksReceived := 0; c.acksExpected := 0;");
        self.line("    undefine c.wanted;");
        for field in 0..knobs.fields {
            if field == 0 || !self.random.percent(12) {
                self.line(format!("    undefine c.note{field};"));
            }
        }
        self.line("  end;");
        self.line("  end;");
        self.line("end;");
    }

    fn directory_handler(&mut self) {
        let knobs = self.knobs;
        self.line("procedure Func_directory(msg : Message);");
        self.line("var sent : Count;");
        self.line("begin");
        self.line("  alias d : i_directory do");
        self.line("  switch d.State");
        for state in 0..knobs.states {
            self.line(format!("  case directory_S{state}:"));
            self.line("    switch msg.mtype");
            for request in 0..knobs.requests {
                self.line(format!("    case Get{request}:"));
                self.directory_case(request);
            }
            self.line("    else");
            self.line("      error \"a message that the directory does not take\";");
            self.line("    end;");
        }
        self.line("  end;");
        self.line("  end;");
        self.line("end;");
    }

    fn directory_case(&mut self, request: usize) {
        let next = self.random.below(self.knobs.requests.max(2));
        let answer =
            format!("Send_resp(Make(Data{request}, directory, msg.src, 0, d.cl, false), msg.src);");
        if self.random.percent(40) {
            self.line("      if msg.dirty then d.cl := msg.cl; end;");
        }
        match self.random.below(3) {
            0 => {
                self.line(format!("      {answer}"));
                self.line("      d.sharers[msg.src] := true;");
            }
            1 => {
                self.line("      if d.owner = msg.src | isundefined(d.owner) then");
                self.line(format!("        {answer}"));
                self.line("      else");
                self.line(format!(
                    "        Send_fwd(Make(Fwd{request}, directory, msg.src, 0, d.cl, false), d.owner);"
                ));
                self.line("      end;");
                self.line("      d.owner := msg.src;");
            }
            _ => {
                self.line("      sent := Invalidate(msg.src, d.cl);");
                self.line(format!(
                    "      Send_resp(Make(Data{request}, directory, msg.src, sent, d.cl, false), msg.src);"
                ));
                match self.random.percent(50) {
                    true => self.line("      d.owner := msg.src;"),
                    false => self.line("      undefine d.owner;"),
                }
            }
        }
        self.line(format!("      d.State := directory_S{next};"));
    }

    fn rules(&mut self) {
        let knobs = self.knobs;
        for class in 0..knobs.caches.len() {
            self.line(format!("ruleset m : OBJSET_cache{class} do"));
            self.line(format!("alias c : i_cache{class}[m] do"));
            for state in 0..self.stable() {
                for request in 0..knobs.requests {
                    if (state + request) % 2 == 0 || self.random.percent(30) {
                        self.request_rule(class, state, request);
                    }
                }
                self.line(format!("rule \"cache {class} writes in state {state}\""));
                self.line(format!("  c.State = cache{class}_S{state} & !c.pending & c.dirty"));
                self.line("==>");
                self.line("begin");
                self.line("  if c.cl = VAL_MAX then c.cl := 0; else c.cl := c.cl + 1; end;");
                self.line("end;");
            }
            self.line("end;");
            self.line("end;");
            self.delivery(class);
        }
        self.line("choose i : req[directory] do");
        self.line("alias msg : req[directory][i] do");
        self.line("rule \"the directory takes a request\"");
        self.line("  true");
        self.line("==>");
        self.line("var taken : Message;");
        self.line("begin");
        self.line("  taken := msg;");
        self.line("  multisetremove(i, req[directory]);");
        self.line("  Func_directory(taken);");
        self.line("end;");
        self.line("end;");
        self.line("end;");
    }

    fn request_rule(&mut self, class: usize, state: usize, request: usize) {
        self.line(format!("rule \"cache {class} asks for {request} in state {state}\""));
        self.line(format!("  c.State = cache{class}_S{state} & !c.pending"));
        self.line("==>");
        self.line("begin");
        self.line(format!("  Send_req(Make(Get{request}, m, m, 0, c.cl, c.dirty), directory);"));
        self.line("  c.pending := true;");
        self.line(format!("  c.wanted := Get{request};"));
        self.line("end;");
    }

    fn delivery(&mut self, class: usize) {
        self.line(format!("ruleset m : OBJSET_cache{class} do"));
        self.line(format!("rule \"cache {class} takes a forward\""));
        self.line("  cnt_fwd[m] > 0");
        self.line("==>");
        self.line("var msg : Message;");
        self.line("begin");
        self.line("  msg := fwd[m][0];");
        self.line("  Pop_fwd(m);");
        self.line(format!("  Func_cache{class}(msg, m);"));
        self.line("end;");
        self.line("choose i : resp[m] do");
        self.line("alias msg : resp[m][i] do");
        self.line(format!("rule \"cache {class} takes a response\""));
        self.line("  true");
        self.line("==>");
        self.line("var taken : Message;");
        self.line("begin");
        self.line("  taken := msg;");
        self.line("  multisetremove(i, resp[m]);");
        self.line(format!("  Func_cache{class}(taken, m);"));
        self.line("end;");
        self.line("end;");
        self.line("end;");
        self.line("end;");
    }

    fn start_state(&mut self) {
        let knobs = self.knobs;
        self.line("startstate \"reset\"");
        self.line("begin");
        for class in 0..knobs.caches.len() {
            self.line(format!("  for m : OBJSET_cache{class} do"));
            self.line(format!("    alias c : i_cache{class}[m] do"));
            self.line(format!("    c.State := cache{class}_S0; c.pending := false;"));
            self.line("    c.hasData := false; c.acksExpected := 0; c.acksReceived := 0;");
            self.line("    c.cl := 0; c.dirty := false;");
            self.line("    end;");
            self.line("  end;");
        }
        self.line("  i_directory.State := directory_S0;");
        self.line("  i_directory.cl := 0;");
        self.line("  for m : Machines do");
        self.line("    i_directory.sharers[m] := false;");
        self.line("    cnt_fwd[m] := 0;");
        self.line("    undefine req[m];");
        self.line("    undefine resp[m];");
        self.line("  end;");
        self.line("end;");
        for class in 0..knobs.caches.len() {
            self.line(format!("invariant \"cache {class} waits for no more than there are\""));
            self.line(format!("  forall m : OBJSET_cache{class} do"));
            self.line(format!(
                "    !i_cache{class}[m].pending -> i_cache{class}[m].acksReceived = 0"
            ));
            self.line("  end;");
        }
    }
}
