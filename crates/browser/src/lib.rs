//! Test support: drives a page in Debian's chromium, headless, by the DevTools protocol over a pipe.
//!
//! The protocol is one JSON object a message, ended by a zero byte; chromium reads descriptor 3 and
//! writes descriptor 4, which a shell connects to its own input and output. So no library is needed
//! beside serde_json, and no port is opened. The protocol is described at
//! <https://chromedevtools.github.io/devtools-protocol/>.
//!
//! ```no_run
//! let Some(mut browser) = tribunal_browser::Browser::start() else { return };
//! let mut tab = browser.open(std::path::Path::new("/tmp/why.html"));
//! tab.press("ArrowRight");
//! assert_eq!(tab.text("h1"), "a title");
//! assert_eq!(tab.complaints(), Vec::<String>::new());
//! ```

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long an answer of the browser may take, on a machine with other work.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running browser. It ends when it is dropped.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    sent: u64,
    profile: PathBuf,
}

impl Browser {
    /// Starts the browser. Where there is none, says "skipped" and gives nothing.
    ///
    /// # Panics
    ///
    /// If there is none and `CI` is set: there the tests have to run.
    pub fn start() -> Option<Self> {
        let found = ["chromium", "chromium-browser", "google-chrome"].into_iter().find(|name| {
            let asked = Command::new(name).arg("--version").stderr(Stdio::null()).output();
            asked.is_ok_and(|output| output.status.success())
        });
        let Some(name) = found else {
            assert!(
                std::env::var_os("CI").is_none(),
                "CI needs chromium: apt-get install chromium"
            );
            println!("skipped: there is no chromium here");
            return None;
        };
        let unique = format!("tribunal-browser-{}-{:?}", std::process::id(), Instant::now());
        let unique: String =
            unique.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        let profile = std::env::temp_dir().join(unique);
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", name])
            .args(["--headless", "--remote-debugging-pipe", "--no-sandbox", "--disable-gpu"])
            .args(["--disable-dev-shm-usage", "--no-first-run", "--disable-extensions"])
            .args(["--disable-background-networking", "--disable-component-update"])
            .args(["--window-size=1400,1000", "--force-color-profile=srgb"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let to = child.stdin.take().expect("its input is a pipe");
        let output = child.stdout.take().expect("its output is a pipe");
        let (sender, from) = channel();
        std::thread::spawn(move || {
            let messages = BufReader::new(output).split(0);
            for message in messages.map_while(Result::ok) {
                let message = serde_json::from_slice(&message).expect("the protocol is JSON");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Some(Browser { child, to, from, sent: 0, profile })
    }

    /// Opens a page from disk and waits until it has loaded.
    pub fn open(&mut self, page: &Path) -> Tab<'_> {
        self.open_at(page, "")
    }

    /// The same at a place of it: `#step=3`.
    pub fn open_at(&mut self, page: &Path, place: &str) -> Tab<'_> {
        let made =
            self.call(None, "Target.createTarget", json!({"url": "about:blank"}), &mut vec![]);
        let target = json!({"targetId": made["targetId"], "flatten": true});
        let attached = self.call(None, "Target.attachToTarget", target, &mut vec![]);
        let session = attached["sessionId"].as_str().expect("a session").to_owned();
        let page = page.canonicalize().expect("the page is there");
        let address = format!("file://{}{place}", page.display());
        let mut tab = Tab { browser: self, session, address, seen: Vec::new() };
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        tab.call("Performance.enable", json!({"timeDomain": "threadTicks"}));
        tab.call("Page.addScriptToEvaluateOnNewDocument", json!({"source": OBSERVER}));
        let address = tab.address.clone();
        tab.call("Page.navigate", json!({"url": address}));
        tab.wait(|tab| tab.seen.iter().any(|event| event["method"] == "Page.loadEventFired"));
        tab
    }

    /// Calls a method and waits for its answer; what happens meanwhile is kept in `seen`.
    fn call(
        &mut self,
        session: Option<&str>,
        method: &str,
        parameters: Value,
        seen: &mut Vec<Value>,
    ) -> Value {
        self.sent += 1;
        let mut message = json!({"id": self.sent, "method": method, "params": parameters});
        if let Some(session) = session {
            message["sessionId"] = session.into();
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).and_then(|()| self.to.flush()).expect("the browser listens");
        let until = Instant::now() + PATIENCE;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let answer =
                self.from.recv_timeout(left).unwrap_or_else(|_| panic!("{method}: no answer"));
            if answer["id"] == self.sent {
                assert!(answer.get("error").is_none(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            seen.push(answer);
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.to.write_all(b"{\"id\":0,\"method\":\"Browser.close\"}\0");
        let until = Instant::now() + Duration::from_secs(5);
        while Instant::now() < until && matches!(self.child.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// Runs before the scripts of a page: notes every task that keeps a reader waiting.
const OBSERVER: &str = "window.longTasks = [];
new PerformanceObserver((list) => list.getEntries().forEach((entry) => longTasks.push(entry.duration)))
  .observe({ type: 'longtask', buffered: true });";

/// A page in the browser.
pub struct Tab<'b> {
    browser: &'b mut Browser,
    session: String,
    address: String,
    seen: Vec<Value>,
}

impl Tab<'_> {
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.browser.call(Some(&self.session), method, parameters, &mut self.seen)
    }

    /// Waits until something is so.
    fn wait(&mut self, is_so: impl Fn(&Self) -> bool) {
        let until = Instant::now() + PATIENCE;
        while !is_so(self) {
            let left = until.saturating_duration_since(Instant::now());
            match self.browser.from.recv_timeout(left) {
                Ok(event) => self.seen.push(event),
                Err(RecvTimeoutError::Timeout) => panic!("waited in vain"),
                Err(RecvTimeoutError::Disconnected) => panic!("the browser has ended"),
            }
        }
    }

    /// The value of an expression in the page; promises are awaited.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let asked = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", asked);
        let failed = answer.get("exceptionDetails");
        assert!(failed.is_none(), "{expression}: {}", failed.unwrap_or(&Value::Null));
        answer["result"]["value"].clone()
    }

    /// Whether an expression becomes true within a few seconds.
    pub fn becomes(&mut self, expression: &str) -> bool {
        let promise = format!(
            "new Promise((done) => {{ const end = Date.now() + 10000; const look = () => {{ \
             if ({expression}) done(true); else if (Date.now() > end) done(false); \
             else setTimeout(look, 20); }}; look(); }})"
        );
        self.evaluate(&promise) == true
    }

    /// The text of the first element that a selector finds, and nothing if there is none.
    pub fn text(&mut self, selector: &str) -> String {
        let text = format!("document.querySelector({})?.textContent ?? ''", json!(selector));
        self.evaluate(&text).as_str().unwrap_or_default().to_owned()
    }

    /// How many elements that a selector finds are drawn.
    pub fn count(&mut self, selector: &str) -> u64 {
        let count = format!(
            "[...document.querySelectorAll({})].filter((e) => e.getClientRects().length).length",
            json!(selector)
        );
        self.evaluate(&count).as_u64().unwrap_or_default()
    }

    /// Presses a key: `ArrowRight`, `Enter`, `/`.
    pub fn press(&mut self, key: &str) {
        let mut down = json!({"type": "keyDown", "key": key, "code": key});
        if key.chars().count() == 1 {
            down["text"] = key.into();
        }
        if key == "Enter" {
            down["text"] = "\r".into();
            down["windowsVirtualKeyCode"] = 13.into();
        }
        self.call("Input.dispatchKeyEvent", down);
        self.call("Input.dispatchKeyEvent", json!({"type": "keyUp", "key": key, "code": key}));
    }

    /// Types a text.
    pub fn enter(&mut self, text: &str) {
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Clicks with the mouse on the first element that a selector finds.
    pub fn click(&mut self, selector: &str) {
        let place = self.middle(selector);
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({
                "type": kind, "x": place[0], "y": place[1], "button": "left", "clickCount": 1,
            });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Moves the mouse over the first element that a selector finds.
    pub fn hover(&mut self, selector: &str) {
        let place = self.middle(selector);
        let event = json!({"type": "mouseMoved", "x": place[0], "y": place[1]});
        self.call("Input.dispatchMouseEvent", event);
    }

    /// Where the first element that a selector finds is, after it was scrolled into view.
    fn middle(&mut self, selector: &str) -> Value {
        let place = format!(
            "(() => {{ const e = document.querySelector({0}); \
             if (!e) throw new Error('nothing is ' + {0}); \
             e.scrollIntoView({{ block: 'center', inline: 'center' }}); \
             const r = e.getBoundingClientRect(); \
             return [r.x + r.width / 2, r.y + r.height / 2]; }})()",
            json!(selector)
        );
        self.evaluate(&place)
    }

    /// The place in the page that its address names, without the `#`.
    pub fn place(&mut self) -> String {
        self.evaluate("location.hash.slice(1)").as_str().unwrap_or_default().to_owned()
    }

    /// Goes to a place of the page.
    pub fn go(&mut self, place: &str) {
        self.evaluate(&format!(
            "location.hash = {}; new Promise((done) => setTimeout(done, 50))",
            json!(place)
        ));
    }

    /// The longest time that a task kept the reader waiting so far, in milliseconds.
    pub fn longest_task(&mut self) -> f64 {
        let longest =
            "new Promise((done) => setTimeout(() => done(Math.max(0, ...longTasks)), 200))";
        self.evaluate(longest).as_f64().unwrap_or_default()
    }

    /// The CPU time that all tasks of the page took so far, in milliseconds: scripts, styles and layout.
    /// Other work on the machine does not make it longer.
    pub fn busy(&mut self) -> f64 {
        let metrics = self.call("Performance.getMetrics", json!({}));
        let metrics = metrics["metrics"].as_array().cloned().unwrap_or_default();
        let task = metrics.iter().find(|metric| metric["name"] == "TaskDuration");
        task.and_then(|metric| metric["value"].as_f64()).map_or(0.0, |seconds| seconds * 1e3)
    }

    /// Errors that the page caused, and requests that left its file.
    pub fn complaints(&mut self) -> Vec<String> {
        self.evaluate("new Promise((done) => setTimeout(done, 50))");
        let file = self.address.split('#').next().unwrap_or_default().to_owned();
        let complaint = |event: &Value| {
            let of = &event["params"];
            match event["method"].as_str()? {
                "Runtime.exceptionThrown" => Some(of["exceptionDetails"].to_string()),
                "Runtime.consoleAPICalled" if of["type"] != "log" => Some(of["args"].to_string()),
                "Log.entryAdded" if of["entry"]["level"] != "info" => Some(of["entry"].to_string()),
                "Network.requestWillBeSent" => {
                    let address = of["request"]["url"].as_str()?;
                    let inside = address.split('#').next() == Some(&file)
                        || address.starts_with("data:")
                        || address == "about:blank";
                    (!inside).then(|| format!("a request for {address}"))
                }
                _ => None,
            }
        };
        self.seen.iter().filter_map(complaint).collect()
    }
}
