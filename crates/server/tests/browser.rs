//! The pages of the real server in a real browser. `BROWSER` names the folder that holds `tests/browser`'s scripts with
//! what their `package.json` names; `CHROMIUM` the browser, if it is elsewhere than `/usr/bin/chromium`.
#![allow(clippy::unwrap_used, clippy::expect_used)] // helpers of tests fail by panicking

mod plane;

use std::{
    env,
    path::PathBuf,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use lcp::{Object, Value};
use plane::{Plane, purchase, text};
use server::temp_folder::TempFolder;

const PASSWORD: &str = "a few words in a row";

/// Runs a script, prints what it says, and gives it back.
fn script(name: &str, login: &str, arguments: &[&str]) -> String {
    let folder = PathBuf::from(env::var_os("BROWSER").expect("BROWSER is the folder of the scripts"));
    let run = Command::new("node").arg(folder.join(name)).args(arguments).env("LOGIN", login).env("PASSWORD", PASSWORD).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&run.stdout), String::from_utf8_lossy(&run.stderr));
    println!("{out}{err}");
    assert!(run.status.success(), "{name} failed");
    out.into_owned()
}

/// Asks until a person has answered, each time for as long as the server waits.
fn wait(mut ask: impl FnMut() -> Value) -> Value {
    loop {
        let since = Instant::now();
        let request = ask();
        if text(&request, &["state"]) != "awaiting_approval" {
            return request;
        }
        assert!(since.elapsed() >= Duration::from_secs(24), "an answer that changes nothing comes only when the wait is over");
    }
}

#[test]
fn a_person_sets_a_password_and_approves_while_the_agent_waits() {
    let folder = TempFolder::new().unwrap();
    let server = Plane::start(folder.path());
    let first = server.first.clone().unwrap();
    let out = script("setup.mjs", "", &[&first.setup]);
    let login = out.lines().find_map(|line| line.strip_prefix("login: ")).unwrap();

    let mut agent = server.client(&first.agent);
    let mut ask = |key: &str, purpose: &str| {
        let asked = agent.pay(key, &purchase("80.00", purpose)).unwrap().json();
        assert_eq!(text(&asked, &["decision", "result"]), "step_up");
        (text(&asked, &["id"]).to_owned(), text(&asked, &["approval", "url"]).to_owned())
    };
    let (paper, with_script) = ask("paper", "10 reams of recycled A4 paper");
    let (ink, without_script) = ask("ink", "Black ink for the office printer <b>now</b> https://evil.example/");
    let (_, looked_at) = ask("desk", &"A desk that can be moved up and down, with its lamp. ".repeat(20));

    thread::scope(|scope| {
        // One waits with the MCP tool, the other with the REST call.
        let mut client = server.client(&first.agent);
        let by_mcp =
            scope.spawn(move || wait(|| client.call_tool("get_decision", Object::new().with("request_id", paper.as_str()).with("wait", 25u32))));
        let mut client = server.client(&first.agent);
        let by_rest = scope.spawn(move || wait(|| client.get(&format!("/v0/payment-requests/{ink}?wait=25")).unwrap().json()));
        script("approve.mjs", login, &[&with_script, &without_script]);
        for request in [by_mcp, by_rest] {
            let request = request.join().unwrap();
            assert_eq!(text(&request, &["state"]), "approved");
            assert_eq!(text(&request, &["decision", "result"]), "allow");
            assert_eq!(text(&request, &["mandate", "amount"]), "80.00");
        }
    });

    let shots = env::var("SHOTS").map_or_else(|_| folder.path().join("shots"), PathBuf::from);
    let path = |url: &str| url.trim_start_matches(&server.base).to_owned();
    let pages = [path(&looked_at), path(&with_script), "/approvals".to_owned(), "/approve/apv_none".to_owned()];
    let mut arguments = vec![shots.to_str().unwrap(), &server.base];
    arguments.extend(pages.iter().map(String::as_str));
    script("look.mjs", login, &arguments);
    // A link of a second sandbox shows the form for a first password.
    let second = agent.post("/v0/sandbox/keys", &Object::new()).unwrap().json();
    script("look.mjs", "", &[shots.to_str().unwrap(), &server.base, "/sign-in", "/setup/none", &path(text(&second, &["setup_url"]))]);
}
