//! `rails`: the protocols that may carry a payment, and the assets they may pay with.

use std::sync::Arc;

use crate::{Asset, Currency, Fault, FaultCode, read::Field, request::Protocol};

const MAX_ASSETS: usize = 100;

/// The rails block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rails {
    /// The protocols that may be used; `None` for all.
    pub protocols: Option<Vec<Protocol>>,
    /// The assets that a protocol may pay with.
    pub assets: Vec<RailAsset>,
}

/// An asset that a protocol may pay with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RailAsset {
    /// The protocol.
    pub protocol: Protocol,
    /// The asset.
    pub asset: Arc<Asset>,
    /// The currency that it stands for one for one.
    pub peg: Option<Currency>,
}

impl Rails {
    pub(super) fn read(field: &Field<'_>) -> Result<Self, Fault> {
        let names: Vec<_> = Protocol::ALL.iter().map(|protocol| protocol.as_str()).collect();
        let members = field.members(&names)?;
        let (mut protocols, mut assets) = (Vec::new(), Vec::new());
        for protocol in Protocol::ALL {
            let Some(rail) = members.optional(protocol.as_str()) else { continue };
            protocols.push(*protocol);
            let has_assets = matches!(protocol, Protocol::X402 | Protocol::Mpp);
            let settings = rail.members(if has_assets { &["assets"] } else { &[] })?;
            assets.extend(settings.list("assets", MAX_ASSETS, |item| RailAsset::read(item, *protocol))?);
        }
        if protocols.is_empty() {
            return Err(field.fault(FaultCode::TooShort, "Name at least one protocol, or leave this member out."));
        }
        // One id means one asset, whichever protocol names it.
        let is_told_twice =
            |(index, one): (usize, &RailAsset)| assets.iter().take(index).any(|other| other.asset.id() == one.asset.id() && other.asset != one.asset);
        if assets.iter().enumerate().any(is_told_twice) {
            return Err(field.fault(FaultCode::Repeated, "Give an asset the same symbol and decimals wherever it is named."));
        }
        Ok(Self { protocols: Some(protocols), assets })
    }

    /// Whether a protocol may carry a payment.
    pub fn allow(&self, protocol: Protocol) -> bool {
        self.protocols.as_ref().is_none_or(|protocols| protocols.contains(&protocol))
    }
}

impl RailAsset {
    fn read(field: &Field<'_>, protocol: Protocol) -> Result<Self, Fault> {
        let members = field.members(&["id", "symbol", "decimals", "peg"])?;
        let (id, symbol) = (members.required("id")?, members.required("symbol")?);
        let decimals = members.required("decimals")?.integer(0..=u32::from(crate::money::MAX_DECIMALS))?;
        let decimals = u8::try_from(decimals).unwrap_or_default();
        let asset = Asset::new(id.string()?, symbol.string()?, decimals);
        let peg = members.read("peg", |field| field.currency(&[]))?;
        let asset = asset.ok_or_else(|| field.fault(FaultCode::Malformed, "Give a CAIP-19 id and a symbol of 1 to 16 letters and digits."))?;
        Ok(Self { protocol, asset: Arc::new(asset), peg })
    }
}
