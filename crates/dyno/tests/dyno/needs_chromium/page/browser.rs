//! A headless Chromium for each test, controlled through a pipe: no port, no driver, and no name
//! resolution.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A command that takes this long hangs.
const WATCHDOG: Duration = Duration::from_secs(60);

const FLAGS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--disable-default-apps",
    "--hide-scrollbars",
    "--force-device-scale-factor=1",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
];

/// The browser with one page in it.
pub(crate) struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    events: Vec<Value>,
    session: String,
    last: u64,
    _profile: TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Browser {
    pub(crate) fn start() -> Self {
        let profile = tempfile::tempdir().unwrap();
        // The shell connects standard input and output to the file descriptors that Chromium expects.
        let script = "command -v chromium >/dev/null || exit 42; \
                      exec chromium \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let mut child = Command::new("sh")
            .args(["-c", script, "sh"])
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .env("HOME", profile.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let to = child.stdin.take().unwrap();
        let mut heard = BufReader::new(child.stdout.take().unwrap());
        let (send, from) = channel();
        std::thread::spawn(move || {
            let mut message = Vec::new();
            while heard.read_until(0, &mut message).is_ok_and(|bytes| bytes > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else { return };
                if send.send(value).is_err() {
                    return;
                }
                message.clear();
            }
        });
        let (events, session) = (Vec::new(), String::new());
        let mut browser = Self { child, to, from, events, session, last: 0, _profile: profile };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}));
        let wanted = json!({"targetId": target["targetId"], "flatten": true});
        let attached = browser.call("Target.attachToTarget", wanted);
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// One command, and its response.
    #[track_caller]
    fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let id = self.last;
        let mut message = json!({"id": id, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let bytes = [message.to_string().as_bytes(), b"\0"].concat();
        if self.to.write_all(&bytes).is_err() {
            self.gone(method);
        }
        loop {
            let heard = self.hear(method);
            if heard["id"] == json!(id) {
                assert!(heard["error"].is_null(), "{method}: {}", heard["error"]);
                return heard["result"].clone();
            }
            self.events.push(heard);
        }
    }

    #[track_caller]
    fn hear(&mut self, doing: &str) -> Value {
        match self.from.recv_timeout(WATCHDOG) {
            Ok(heard) => heard,
            Err(_) => self.gone(doing),
        }
    }

    #[track_caller]
    fn gone(&mut self, doing: &str) -> ! {
        let _ = self.child.kill();
        let status = self.child.wait().unwrap();
        assert!(
            status.code() != Some(42),
            "chromium is missing; run scripts/test, which installs it"
        );
        panic!("chromium did not answer to {doing}: {status}");
    }

    /// Opens a file at this width, once its script has run and its charts are drawn.
    #[track_caller]
    pub(crate) fn open(&mut self, file: &Path, width: u32) {
        self.events.clear();
        self.width(width);
        self.call("Page.navigate", json!({"url": format!("file://{}", file.display())}));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let heard = self.hear("load");
            self.events.push(heard);
        }
        self.wait("document.readyState === 'complete' && !!document.getElementById('theme')");
        self.settle();
    }

    /// A window of this width.
    pub(crate) fn width(&mut self, width: u32) {
        let metrics =
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
    }

    /// Waits until the page is drawn.
    #[track_caller]
    pub(crate) fn settle(&mut self) {
        let frames =
            "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))";
        self.js(frames);
    }

    /// The value of an expression in the page.
    #[track_caller]
    pub(crate) fn js(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// The same, as text.
    #[track_caller]
    pub(crate) fn text(&mut self, expression: &str) -> String {
        self.js(expression).as_str().unwrap_or_default().to_owned()
    }

    /// The same, as a number.
    #[track_caller]
    pub(crate) fn number(&mut self, expression: &str) -> f64 {
        let value = self.js(expression);
        value.as_f64().unwrap_or_else(|| panic!("{expression} is {value}"))
    }

    /// Waits until an expression is true.
    #[track_caller]
    pub(crate) fn wait(&mut self, expression: &str) {
        let begun = Instant::now();
        while self.js(expression) != json!(true) {
            assert!(begun.elapsed() < WATCHDOG, "it never came true: {expression}");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// The middle of an element, after scrolling to it.
    #[track_caller]
    pub(crate) fn middle(&mut self, selector: &str, which: usize) -> [f64; 2] {
        let found = self.js(&format!(
            "(() => {{ const node = document.querySelectorAll({selector:?})[{which}]; \
             node.scrollIntoView({{block: 'center', behavior: 'instant'}}); \
             const box = node.getBoundingClientRect(); \
             return [box.left + box.width / 2, box.top + box.height / 2]; }})()"
        ));
        [0, 1].map(|i| found[i].as_f64().unwrap_or_else(|| panic!("{selector}: {found}")))
    }

    /// `mouseMoved`, `mousePressed` or `mouseReleased` there.
    pub(crate) fn mouse(&mut self, kind: &str, [x, y]: [f64; 2]) {
        let pressed = kind != "mouseMoved";
        let (button, clicks) = if pressed { ("left", 1) } else { ("none", 0) };
        let params = json!({"type": kind, "x": x, "y": y, "button": button, "clickCount": clicks});
        self.call("Input.dispatchMouseEvent", params);
    }

    #[track_caller]
    pub(crate) fn click(&mut self, selector: &str, which: usize) {
        let place = self.middle(selector, which);
        self.mouse("mousePressed", place);
        self.mouse("mouseReleased", place);
        self.settle();
    }

    pub(crate) fn key(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({"type": kind, "key": key}));
        }
        self.settle();
    }

    /// Picks an item of a list.
    #[track_caller]
    pub(crate) fn pick(&mut self, selector: &str, value: &str) {
        self.js(&format!(
            "(() => {{ const list = document.querySelector({selector:?}); list.value = {value:?}; \
             if (list.value !== {value:?}) throw new Error('no such choice'); \
             list.dispatchEvent(new Event('change')); }})()"
        ));
        self.settle();
    }

    /// The medium (`screen`, `print`) and the preferred theme (`light`, `dark`).
    pub(crate) fn media(&mut self, medium: &str, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"media": medium, "features": features}));
        self.settle();
    }

    /// Saves a screenshot of the whole page.
    pub(crate) fn picture(&mut self, name: &str) {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("../test-output/page");
        std::fs::create_dir_all(&folder).unwrap();
        let params = json!({"format": "png", "captureBeyondViewport": true});
        let shot = self.call("Page.captureScreenshot", params);
        let bytes = decoded(shot["data"].as_str().unwrap());
        assert!(bytes.starts_with(b"\x89PNG"), "{name} is not a PNG");
        let file: PathBuf = folder.join(format!("{name}.png"));
        std::fs::write(file, bytes).unwrap();
    }

    /// What went wrong since the page was opened: errors, violations of its policy, dialogs and network
    /// requests.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        self.js("1");
        let own = |event: &&Value| {
            let params = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Runtime.exceptionThrown" | "Page.javascriptDialogOpening" => true,
                "Runtime.consoleAPICalled" => params["type"] == "error",
                "Log.entryAdded" => params["entry"]["level"] != "verbose",
                "Network.requestWillBeSent" => {
                    let url = params["request"]["url"].as_str().unwrap_or_default();
                    !url.starts_with("file://") && !url.starts_with("data:")
                }
                _ => false,
            }
        };
        self.events.iter().filter(own).map(Value::to_string).collect()
    }
}

fn decoded(letters: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let mut out = Vec::new();
    let (mut bits, mut held) = (0_u32, 0);
    for six in letters.bytes().filter_map(value) {
        bits = bits << 6 | u32::from(six);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    out
}
