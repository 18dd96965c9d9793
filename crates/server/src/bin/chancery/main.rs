//! `chancery`, the payment control plane.

mod admin;
mod arguments;
mod demo;
mod mcp;
mod output;
mod plane;
mod policy;
mod serve;
mod verify;

use std::process::ExitCode;

use arguments::{Action, Failure};

fn main() -> ExitCode {
    // A panic's own words may hold what somebody sent.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(|location| format!(" at {}:{}", location.file(), location.line())).unwrap_or_default();
        eprintln!("chancery: a fault inside the program{place}: please report it");
    }));
    let outcome = arguments::parse(std::env::args_os()).and_then(run);
    match outcome {
        Ok(code) => code,
        Err(failure) => {
            eprintln!("chancery: {failure}");
            failure.code()
        }
    }
}

fn run(action: Action) -> Result<ExitCode, Failure> {
    match action {
        Action::Print(text) => {
            output::put(text);
            Ok(ExitCode::SUCCESS)
        }
        Action::Verify(options) => verify::run(&options),
        Action::CheckPolicy(file) => policy::check(&file),
        Action::Serve(flags) => block_on(serve::run(&flags)),
        Action::Mcp(options) => block_on(mcp::run(options)),
        Action::Admin(options) => block_on(admin::run(options)),
        Action::Demo => block_on(demo::run()),
    }
}

fn block_on(work: impl Future<Output = Result<(), Failure>>) -> Result<ExitCode, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::of)?;
    let outcome = runtime.block_on(work);
    // A thread that still reads standard input must not hold the process up.
    runtime.shutdown_background();
    outcome.map(|()| ExitCode::SUCCESS)
}
