//! `chancery mcp`: MCP on standard input and output, for development.

use server::{
    config::KEY_VARIABLE,
    data_folder::DataFolder,
    local::{self, LocalError, Owner, Reach},
    mcp,
};
use tokio::io::{AsyncWriteExt, copy, copy_buf, stdin, stdout};

use crate::{
    arguments::{Failure, McpOptions},
    plane::Plane,
    serve,
};

/// Serves until the client closes standard input.
pub(crate) async fn run(options: McpOptions) -> Result<(), Failure> {
    let config = serve::config(&options.flags)?;
    let mut who = options.who;
    if who.key.is_none() && who.agent.is_none() {
        who.key = std::env::var(KEY_VARIABLE).ok().filter(|key| !key.is_empty());
    }
    let folder = DataFolder::make(&config.data).map_err(Failure::of)?;
    let lock = loop {
        match local::reach(&folder).await.map_err(Failure::of)? {
            Reach::Owning(lock) => break lock,
            Reach::Through(connection) => match connection.mcp(who.clone()).await {
                Ok(Ok((mut read, mut write))) => {
                    let asked = async {
                        // The end of standard input ends the session there, and then the answers here.
                        copy(&mut stdin(), &mut write).await?;
                        write.shutdown().await
                    };
                    let answered = async {
                        let mut out = stdout();
                        copy_buf(&mut read, &mut out).await?;
                        out.flush().await
                    };
                    tokio::pin!(asked, answered);
                    return tokio::select! {
                        answered = &mut answered => answered,
                        asked = &mut asked => match asked { Ok(()) => answered.await, Err(error) => Err(error) },
                    }
                    .map_err(Failure::of);
                }
                Ok(Err(problem)) => return Err(Failure::of(problem)),
                Err(LocalError::Stopped) => {}
                Err(error) => return Err(Failure::of(error)),
            },
        }
    };
    // Approval pages need HTTP; without it the tools work all the same.
    let listener = match serve::listen(&config).await {
        Ok(listener) => Some(listener),
        Err(failure) => {
            eprintln!("chancery mcp: no approval pages: {failure}");
            None
        }
    };
    let plane = Plane::start(lock, &config, listener).await?;
    if plane.first_start.is_some() {
        eprintln!("chancery mcp: made a sandbox in {}; set the owner's password with: chancery admin user link owner", folder.path().display());
    }
    let served = match plane.service.session(&who).await {
        Ok(caller) => mcp::serve_stdio(plane.service.clone(), caller, stdin(), stdout()).await.map_err(Failure::of),
        Err(problem) => Err(Failure::of(problem)),
    };
    plane.stop().await?;
    served
}
