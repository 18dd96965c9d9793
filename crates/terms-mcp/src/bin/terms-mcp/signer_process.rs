//! A wallet in a process of its own, spoken to in JSON lines: `docs/signer-protocol.md`.

use std::{
    collections::HashMap,
    io,
    process::Stdio,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use lcp::{Object, Value, account::Account, json};
use terms::{Signer, SignerFailed};
use tokio::{
    io::{AsyncBufRead, AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, ChildStdout, Command},
    sync::{mpsc, oneshot},
    task::JoinSet,
    time::timeout,
};

/// Longest line of the protocol in bytes, the line feed not counted.
pub(crate) const MAX_LINE: usize = 4 << 20;

/// How long a wallet may take to name its account.
const ACCOUNT_DEADLINE: Duration = Duration::from_secs(10);

/// How long a wallet that closed its output may take to end, before it is killed.
const EXIT_DEADLINE: Duration = Duration::from_secs(1);

/// A [`Signer`] that asks a wallet process. Dropping it kills the process.
///
/// A signature has no deadline, since a person may have to press a button for it. A caller that no longer waits drops
/// the call; the wallet is not told, and what it answers later is passed over.
#[derive(Debug)]
pub(crate) struct ProcessSigner {
    account: String,
    last_id: AtomicU64,
    calls: Arc<Calls>,
    lines: mpsc::Sender<String>,
    /// The task that owns the process; it ends with this set.
    _process: JoinSet<()>,
}

impl ProcessSigner {
    /// Starts the operator's command, and asks for the account.
    pub(crate) async fn start(command: &str) -> Result<Self, SignerFailed> {
        Self::start_within(command, ACCOUNT_DEADLINE).await
    }

    async fn start_within(command: &str, deadline: Duration) -> Result<Self, SignerFailed> {
        let words = words(command).map_err(SignerFailed::new)?;
        let (program, arguments) = words.split_first().ok_or_else(|| SignerFailed::new("the wallet's command is empty"))?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| SignerFailed::new(format!("the wallet {program} does not start: {error}")))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (stdin, stdout) = pipes.ok_or_else(|| SignerFailed::new("the wallet has no input or output"))?;

        let calls = Arc::new(Calls(Mutex::new(Ok(HashMap::new()))));
        let (lines, queue) = mpsc::channel(1);
        let mut tasks = JoinSet::new();
        tasks.spawn(run(child, stdin, stdout, queue, Arc::clone(&calls)));
        let mut signer = Self { account: String::new(), last_id: AtomicU64::new(0), calls, lines, _process: tasks };

        let account = timeout(deadline, signer.call("account", Object::new().with("method", "account"))).await;
        let account = account.map_err(|_| SignerFailed::new("the wallet did not name its account in time"))??;
        let account = account.as_str().filter(|account| Account::parse(account).is_some());
        signer.account = account.map(str::to_owned).ok_or_else(|| SignerFailed::new("the wallet's account is not CAIP-10"))?;
        Ok(signer)
    }

    /// Makes a call, and waits for the member that answers it.
    async fn call(&self, answer: &'static str, call: Object) -> Result<Value, SignerFailed> {
        let id = self.last_id.fetch_add(1, Ordering::Relaxed) + 1;
        let members = call.iter().fold(Object::new().with("id", id), |line, (name, value)| line.with(name.clone(), value));
        let mut line = json::write(&members.into());
        if line.len() > MAX_LINE {
            return Err(SignerFailed::new("the request is longer than a line of the wallet's protocol"));
        }
        line.push('\n');
        let (waiting, settled) = self.calls.open(id, answer)?;
        // If nobody takes lines any more, the call is closed, which shows below.
        let _ = self.lines.send(line).await;
        let outcome = settled.await.map_err(|_| self.calls.closed())?;
        drop(waiting);
        outcome.map_err(|sentence| SignerFailed::new(format!("the wallet refused: {sentence}")))
    }
}

impl Signer for ProcessSigner {
    fn account(&self) -> Option<&str> {
        Some(&self.account)
    }

    async fn sign(&self, request: &Value) -> Result<Value, SignerFailed> {
        self.call("answer", Object::new().with("method", "sign").with("request", request)).await
    }
}

/// The calls that wait for an answer, by id; or why there can be none any more.
#[derive(Debug)]
struct Calls(Mutex<Result<HashMap<u64, Call>, SignerFailed>>);

#[derive(Debug)]
struct Call {
    /// The member that answers it.
    answer: &'static str,
    settle: oneshot::Sender<Result<Value, String>>,
}

/// A call's place among those that wait, given up when it is dropped.
struct Waiting<'a> {
    calls: &'a Calls,
    id: u64,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Ok(calls) = &mut *self.calls.lock() {
            calls.remove(&self.id);
        }
    }
}

impl Calls {
    fn lock(&self) -> MutexGuard<'_, Result<HashMap<u64, Call>, SignerFailed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, id: u64, answer: &'static str) -> Result<(Waiting<'_>, oneshot::Receiver<Result<Value, String>>), SignerFailed> {
        let (settle, settled) = oneshot::channel();
        self.lock().as_mut().map_err(|reason| reason.clone())?.insert(id, Call { answer, settle });
        Ok((Waiting { calls: self, id }, settled))
    }

    /// Ends all calls, and those to come.
    fn close(&self, reason: String) {
        *self.lock() = Err(SignerFailed::new(reason));
    }

    /// Why the calls were closed.
    fn closed(&self) -> SignerFailed {
        self.lock().as_ref().err().cloned().unwrap_or_else(|| SignerFailed::new("the wallet hung up"))
    }

    /// Hands a line to the call it answers. Fails on a line that is not of the protocol.
    fn settle(&self, line: &[u8]) -> Result<(), String> {
        let value = json::parse_bytes(line, json::MAX_DEPTH).map_err(|error| error.to_string())?;
        let id = value.get("id").and_then(Value::as_safe_unsigned).ok_or("a line without an id")?;
        let Some(call) = self.lock().as_mut().ok().and_then(|calls| calls.remove(&id)) else {
            return Ok(()); // nobody waits for it any more
        };
        let outcome = match (value.get(call.answer), value.get("error")) {
            (Some(answer), None) => Ok(answer.clone()),
            (None, Some(error)) => Err(error.as_str().ok_or("an error that is no text")?.to_owned()),
            _ => return Err(format!("a line with neither or both of {} and error", call.answer)),
        };
        // Whoever waited may have gone in between.
        let _ = call.settle.send(outcome);
        Ok(())
    }
}

/// Speaks to the wallet until one of the two is done.
async fn run(mut child: Child, stdin: ChildStdin, stdout: ChildStdout, queue: mpsc::Receiver<String>, calls: Arc<Calls>) {
    let fault = tokio::select! {
        fault = read(stdout, &calls) => fault,
        () = write(stdin, queue) => None,
    };
    calls.close(match fault {
        Some(fault) => format!("the wallet broke the protocol: {fault}"),
        None => match timeout(EXIT_DEADLINE, child.wait()).await {
            Ok(Ok(status)) => format!("the wallet ended: {status}"),
            _ => "the wallet hung up".to_owned(),
        },
    });
}

/// Writes lines until the wallet takes no more.
async fn write(mut stdin: ChildStdin, mut queue: mpsc::Receiver<String>) {
    while let Some(line) = queue.recv().await {
        if stdin.write_all(line.as_bytes()).await.is_err() {
            return;
        }
    }
}

/// Reads lines until the wallet closes its output, or breaks the protocol in this way.
async fn read(stdout: ChildStdout, calls: &Calls) -> Option<String> {
    let mut stdout = BufReader::new(stdout);
    loop {
        match read_line(&mut stdout).await {
            Ok(Some(line)) => {
                if let Err(fault) = calls.settle(&line) {
                    return Some(fault);
                }
            }
            Ok(None) => return None,
            Err(error) => return Some(error.to_string()),
        }
    }
}

/// The next line, without its line feed; `None` at the end. Fails on one longer than [`MAX_LINE`].
pub(crate) async fn read_line(reader: &mut (impl AsyncBufRead + Unpin)) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let read = reader.take(MAX_LINE as u64 + 1).read_until(b'\n', &mut line).await?;
    if line.pop_if(|last| *last == b'\n').is_none() && read > MAX_LINE {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "a line longer than 4 MiB"));
    }
    Ok((read > 0).then_some(line))
}

/// Splits a command into words as a POSIX shell does, without expanding anything: white space separates, a backslash
/// takes the next character as it is, single quotes take everything, and double quotes everything but a backslash in
/// front of `"`, `\`, `$` or `` ` ``.
fn words(command: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut rest = command.chars();
    while let Some(c) = rest.next() {
        if c.is_ascii_whitespace() {
            words.extend(word.take());
            continue;
        }
        let word = word.get_or_insert_default();
        let unfinished = || format!("the wallet's command ends behind an open {c}");
        match c {
            '\'' => loop {
                match rest.next().ok_or_else(unfinished)? {
                    '\'' => break,
                    c => word.push(c),
                }
            },
            '"' => loop {
                match rest.next().ok_or_else(unfinished)? {
                    '"' => break,
                    '\\' => match rest.next().ok_or_else(unfinished)? {
                        c @ ('"' | '\\' | '$' | '`') => word.push(c),
                        c => word.extend(['\\', c]),
                    },
                    c => word.push(c),
                }
            },
            '\\' => word.push(rest.next().ok_or_else(unfinished)?),
            c => word.push(c),
        }
    }
    words.extend(word);
    Ok(words)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;

    /// A wallet written for the shell, which can `say` a line and `read` one.
    fn shell(script: &str) -> String {
        format!(r#"sh -c 'say() {{ printf "%s\n" "$1"; }}; {script}'"#)
    }

    /// A wallet that names its account and goes on like this.
    fn wallet(script: &str) -> String {
        shell(&format!(r#"read -r line; say "{{\"id\":1,\"account\":\"eip155:1:0x00\"}}"; {script}"#))
    }

    /// The command that says a JSON text.
    fn say(json: &str) -> String {
        format!("say \"{}\"; ", json.replace('\\', r"\\").replace('"', "\\\""))
    }

    async fn refusal(command: &str) -> String {
        ProcessSigner::start(command).await.unwrap_err().to_string()
    }

    async fn sign(signer: &ProcessSigner, request: u32) -> Result<Value, String> {
        signer.sign(&Value::from(request)).await.map_err(|error| error.to_string())
    }

    #[tokio::test]
    async fn asks_for_the_account_and_signatures() {
        // It answers with the line it got, in an array.
        let id = r#"$(printf %s "$line" | tr -dc 0-9 | cut -c1)"#;
        let script = format!(r#"while read -r line; do say "{{\"id\":{id},\"answer\":[$line]}}"; done"#);
        let signer = ProcessSigner::start(&wallet(&script)).await.unwrap();
        assert_eq!(signer.account(), Some("eip155:1:0x00"));
        let request = Object::new().with("kind", "k\n").into();
        let answer = signer.sign(&request).await.unwrap();
        assert_eq!(json::write(&answer), r#"[{"id":2,"method":"sign","request":{"kind":"k\n"}}]"#);
        assert_eq!(json::write(&sign(&signer, 7).await.unwrap()), r#"[{"id":3,"method":"sign","request":7}]"#);
    }

    #[tokio::test]
    async fn answers_find_their_calls_in_any_order() {
        let lines = [r#"{"id":4,"answer":null}"#, r#"{"id":9,"answer":0}"#, r#"{"id":2,"error":"no"}"#, r#"{"id":3,"answer":"\ud800"}"#];
        let script = format!("read l; read l; read l; {} cat", lines.map(say).concat());
        let signer = ProcessSigner::start(&wallet(&script)).await.unwrap();
        let (second, third, fourth) = tokio::join!(sign(&signer, 0), sign(&signer, 0), sign(&signer, 0));
        assert_eq!(second, Err("the wallet refused: no".to_owned()));
        assert_eq!(json::write(&third.unwrap()), r#""\ud800""#);
        assert_eq!(fourth, Ok(Value::Null));
    }

    #[tokio::test]
    async fn a_dropped_call_is_passed_over() {
        let lines = [r#"{"id":2,"answer":2}"#, r#"{"id":3,"answer":3}"#];
        let signer = ProcessSigner::start(&wallet(&format!("read l; read l; {} cat", lines.map(say).concat()))).await.unwrap();
        assert!(timeout(Duration::from_millis(30), sign(&signer, 0)).await.is_err());
        assert_eq!(signer.calls.lock().as_ref().unwrap().len(), 0);
        assert_eq!(sign(&signer, 0).await, Ok(Value::from(3u32)));
    }

    #[tokio::test]
    async fn a_dead_wallet_signs_nothing() {
        let signer = ProcessSigner::start(&wallet("read l; exit 3")).await.unwrap();
        let ended = Err("the wallet ended: exit status: 3".to_owned());
        assert_eq!(sign(&signer, 0).await, ended);
        assert_eq!(sign(&signer, 0).await, ended);
    }

    #[tokio::test]
    async fn a_wallet_off_the_protocol_is_done_with() {
        for (line, fault) in [
            ("hello", "not JSON at byte 0"),
            ("{}", "a line without an id"),
            (r#"{"id":"2","answer":1}"#, "a line without an id"),
            (r#"{"id":2}"#, "a line with neither or both of answer and error"),
            (r#"{"id":2,"account":"x"}"#, "a line with neither or both of answer and error"),
            (r#"{"id":2,"answer":1,"error":"x"}"#, "a line with neither or both of answer and error"),
            (r#"{"id":2,"error":1}"#, "an error that is no text"),
        ] {
            let signer = ProcessSigner::start(&wallet(&format!("read l; {} cat", say(line)))).await.unwrap();
            let broke = Err(format!("the wallet broke the protocol: {fault}"));
            assert_eq!(sign(&signer, 0).await, broke, "{line}");
            assert_eq!(sign(&signer, 0).await, broke, "{line}");
        }
    }

    #[tokio::test]
    async fn lines_are_bounded_both_ways() {
        let signer = ProcessSigner::start(&wallet(r#"tr "\0" x </dev/zero"#)).await.unwrap();
        assert_eq!(sign(&signer, 0).await, Err("the wallet broke the protocol: a line longer than 4 MiB".to_owned()));

        // It answers with the length of the line it got.
        let signer = ProcessSigner::start(&wallet(r#"read -r l; say "{\"id\":3,\"answer\":${#l}}"; cat"#)).await.unwrap();
        let around = json::write(&Object::new().with("id", 2u32).with("method", "sign").with("request", "").into()).len();
        let too_long = signer.sign(&"x".repeat(MAX_LINE - around + 1).into()).await.unwrap_err();
        assert_eq!(too_long.to_string(), "the request is longer than a line of the wallet's protocol");
        assert_eq!(signer.sign(&"x".repeat(MAX_LINE - around).into()).await, Ok(Value::from(MAX_LINE as u64)));
    }

    #[tokio::test]
    async fn a_line_may_be_as_long_as_the_bound() {
        let text = [vec![b'x'; MAX_LINE], b"\n\ny".to_vec()].concat();
        let mut reader = text.as_slice();
        assert_eq!(read_line(&mut reader).await.unwrap().unwrap().len(), MAX_LINE);
        assert_eq!(read_line(&mut reader).await.unwrap(), Some(vec![]));
        assert_eq!(read_line(&mut reader).await.unwrap(), Some(b"y".to_vec()));
        assert_eq!(read_line(&mut reader).await.unwrap(), None);
        assert!(read_line(&mut vec![b'x'; MAX_LINE + 1].as_slice()).await.is_err());
    }

    #[tokio::test]
    async fn a_wallet_that_does_not_start_says_why() {
        let names = |line: &str| shell(&format!("{} cat", say(line)));
        assert_eq!(refusal("").await, "the wallet's command is empty");
        assert_eq!(refusal("'a").await, "the wallet's command ends behind an open '");
        assert!(refusal("/no/such/wallet").await.starts_with("the wallet /no/such/wallet does not start: "));
        assert_eq!(refusal("true").await, "the wallet ended: exit status: 0");
        assert_eq!(refusal(&names(r#"{"id":1,"account":"0x00"}"#)).await, "the wallet's account is not CAIP-10");
        assert_eq!(refusal(&names(r#"{"id":1,"account":7}"#)).await, "the wallet's account is not CAIP-10");
        assert_eq!(refusal(&names(r#"{"id":1,"error":"locked"}"#)).await, "the wallet refused: locked");
        // It gives back the call, which answers nothing.
        assert_eq!(refusal("cat").await, "the wallet broke the protocol: a line with neither or both of account and error");
        let silent = ProcessSigner::start_within("tail -f /dev/null", Duration::from_millis(30)).await;
        assert_eq!(silent.unwrap_err().to_string(), "the wallet did not name its account in time");
    }

    #[tokio::test]
    async fn dropping_the_signer_kills_the_wallet() {
        let signer = ProcessSigner::start(&wallet(r#"read l; say "{\"id\":2,\"answer\":$$}"; exec tail -f /dev/null"#)).await.unwrap();
        let pid = sign(&signer, 0).await.unwrap().as_safe_unsigned().unwrap();
        let process = format!("/proc/{pid}/stat");
        let lives = || std::fs::read_to_string(Path::new(&process)).is_ok_and(|stat| !stat.contains(") Z "));
        assert!(lives());
        drop(signer);
        timeout(Duration::from_secs(20), async {
            while lives() {
                tokio::task::yield_now().await;
            }
        })
        .await
        .unwrap();
    }

    #[test]
    fn splits_words_like_a_shell() {
        let split = |command: &str| words(command).unwrap();
        assert_eq!(split("  a\tb\n c "), ["a", "b", "c"]);
        assert_eq!(split(r#"a 'b  "c' "d 'e" f\ g"#), ["a", "b  \"c", "d 'e", "f g"]);
        assert_eq!(split(r#""\"\\\$\`\n" '\' x"y"'z'"#), ["\"\\$`\\n", "\\", "xyz"]);
        assert_eq!(split(r#"'' """#), ["", ""]);
        assert_eq!(split("$HOME ~ *.rs `x` #c"), ["$HOME", "~", "*.rs", "`x`", "#c"]);
        assert_eq!(split(" \t"), Vec::<String>::new());
        for command in ["'a", "\"a", "a\\", "\"a\\"] {
            assert!(words(command).is_err(), "{command}");
        }
    }

    proptest! {
        #[test]
        fn quoted_words_come_back(expected in prop::collection::vec("\\PC{0,12}", 0..5)) {
            let quoted: Vec<String> = expected.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
            prop_assert_eq!(words(&quoted.join(" ")).unwrap(), expected);
        }

        #[test]
        fn any_line_is_judged_without_a_panic(line in "\\PC{0,60}|[\\[\\]{}\":,0-9a-z]{0,60}") {
            let calls = Calls(Mutex::new(Ok(HashMap::new())));
            let _ = calls.settle(line.as_bytes());
        }
    }
}
