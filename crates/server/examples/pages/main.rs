//! The pages with sample payments, to look at: `cargo run -p server --example pages`, then the address it prints.
//! Sign in as `ada` with `correct horse battery`. Nothing is kept, and nothing is paid.

mod people;
mod samples;

use server::pages::{PageSettings, routes};
use tokio::net::TcpListener;

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let public_url = format!("http://{}", listener.local_addr()?);
    println!("{public_url}");
    println!("First password: {public_url}/setup/first");
    println!("Empty list: sign in as grace, with the same password.");
    for page in samples::all() {
        println!("{}: {public_url}/approve/{}", page.state, page.id);
    }
    axum::serve(listener, routes(people::Sample::default(), PageSettings { public_url, sandbox: true })).await
}
