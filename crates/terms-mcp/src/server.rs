use std::{fmt, sync::Arc};

use lcp::Object;
use terms::{CancellationToken, Env, Fetch, Gate, NoSigner, Signer};

use crate::{
    arguments::Arguments,
    tools::{self, Id, Needs, Stop, TOOLS, Tool},
};

/// The gate as tools, over a network and a clock, and with the wallets of its host. Clones are cheap and share them.
///
/// The list of tools depends only on which wallets there are: five without one; `atr_transact`, `atr_agree` and
/// `atr_channel_within` with a signer; `atr_agree` with an agreement signer alone.
///
/// [`serve`](crate::serve) keeps every value exact. The server is also an `rmcp::ServerHandler`, for a host that mounts it
/// on a transport of that crate's own, such as Streamable HTTP; what its reader refuses or rounds is then refused or rounded.
pub struct BuyerServer<F, E, S = NoSigner, A = NoSigner> {
    pub(crate) gate: Arc<Gate<F, E>>,
    pub(crate) signer: Option<Arc<S>>,
    pub(crate) agreement_signer: Option<Arc<A>>,
}

impl<F: Fetch, E: Env> BuyerServer<F, E> {
    /// A server without a wallet. `fetch` is its whole network policy: a server that holds a wallet and fetches links
    /// that sellers choose should be given one that connects to public addresses only.
    pub fn new(fetch: F, env: E) -> Self {
        Self { gate: Arc::new(Gate::new(fetch, env)), signer: None, agreement_signer: None }
    }
}

impl<F, E, S, A> BuyerServer<F, E, S, A> {
    /// Adds the host's wallet.
    #[must_use]
    pub fn signer<T: Signer>(self, signer: T) -> BuyerServer<F, E, T, A> {
        BuyerServer { gate: self.gate, signer: Some(Arc::new(signer)), agreement_signer: self.agreement_signer }
    }

    /// Adds the wallet that pays agreements, where it is another than the signer.
    #[must_use]
    pub fn agreement_signer<T: Signer>(self, signer: T) -> BuyerServer<F, E, S, T> {
        BuyerServer { gate: self.gate, signer: self.signer, agreement_signer: Some(Arc::new(signer)) }
    }

    /// The tools this server offers, in the order in which they are listed.
    pub(crate) fn tools(&self) -> impl Iterator<Item = &'static Tool> {
        let (signer, agreement_signer) = (self.signer.is_some(), self.agreement_signer.is_some());
        TOOLS.into_iter().filter(move |tool| match tool.needs {
            Needs::Nothing => true,
            Needs::Signer => signer,
            Needs::AnySigner => signer || agreement_signer,
        })
    }
}

impl<F: Fetch, E: Env, S: Signer, A: Signer> BuyerServer<F, E, S, A> {
    /// Runs a tool on arguments that were checked against its table.
    pub(crate) async fn call(&self, id: Id, arguments: &Arguments, cancel: &CancellationToken) -> Result<Object, Stop> {
        let signer = || self.signer.as_deref().ok_or(Stop::NotOffered);
        let agreement_signer = self.agreement_signer.as_deref();
        match id {
            Id::Confirm => tools::confirm::call(&self.gate, arguments).await,
            Id::Finish => tools::finish::call(arguments),
            Id::Check => tools::check::call(arguments),
            Id::Transact => tools::transact::call(&self.gate, signer()?, agreement_signer, arguments, cancel).await,
            Id::Agree => match agreement_signer {
                Some(payer) => tools::agree::call(&self.gate, payer, arguments, cancel).await,
                None => tools::agree::call(&self.gate, signer()?, arguments, cancel).await,
            },
            Id::ChannelOpen => tools::channel_open::call(arguments),
            Id::ChannelRecordCharge => tools::channel_record_charge::call(arguments),
            Id::ChannelWithin => tools::channel_within::call(&self.gate, signer()?, arguments).await,
        }
    }
}

impl<F, E, S, A> Clone for BuyerServer<F, E, S, A> {
    fn clone(&self) -> Self {
        Self { gate: self.gate.clone(), signer: self.signer.clone(), agreement_signer: self.agreement_signer.clone() }
    }
}

impl<F, E, S, A> fmt::Debug for BuyerServer<F, E, S, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tools().map(|tool| tool.name)).finish()
    }
}
