//! Reading back what this crate wrote for its own store: `None` where a value is not of the form that was written.

use std::sync::Arc;

use lcp::{Hash, Object, Value};

use crate::{
    Asset, Currency, Instant, Money,
    request::{Digest, digest_text},
};

/// An object that was stored.
#[derive(Clone, Copy)]
pub(crate) struct Stored<'a>(&'a Object);

impl<'a> Stored<'a> {
    pub(crate) fn of(value: &'a Value) -> Option<Self> {
        value.as_object().map(Self)
    }

    pub(crate) fn value(self, name: &str) -> Option<&'a Value> {
        self.0.get(name)
    }

    pub(crate) fn text(self, name: &str) -> Option<&'a str> {
        self.value(name)?.as_str()
    }

    pub(crate) fn number(self, name: &str) -> Option<u32> {
        self.value(name)?.as_safe_unsigned()?.try_into().ok()
    }

    pub(crate) fn flag(self, name: &str) -> Option<bool> {
        match self.value(name)? {
            Value::Bool(flag) => Some(*flag),
            _ => None,
        }
    }

    /// A text that `parse` reads.
    pub(crate) fn parsed<T>(self, name: &str, parse: impl Fn(&str) -> Option<T>) -> Option<T> {
        parse(self.text(name)?)
    }

    pub(crate) fn instant(self, name: &str) -> Option<Instant> {
        self.parsed(name, Instant::parse)
    }

    pub(crate) fn hash(self, name: &str) -> Option<Hash> {
        self.parsed(name, hash)
    }

    /// What may be absent or null: `None` only if it is there and does not read.
    #[expect(clippy::option_option, reason = "the outer one says whether it reads, the inner one whether it is there")]
    pub(crate) fn optional<T>(self, name: &str, read: impl FnOnce(&'a Value) -> Option<T>) -> Option<Option<T>> {
        match self.value(name).filter(|value| !value.is_null()) {
            None => Some(None),
            Some(value) => read(value).map(Some),
        }
    }

    /// A text that may be absent.
    #[expect(clippy::option_option, reason = "as in `optional`")]
    pub(crate) fn optional_text<T>(self, name: &str, parse: impl Fn(&str) -> Option<T>) -> Option<Option<T>> {
        self.optional(name, |value| parse(value.as_str()?))
    }

    pub(crate) fn list<T>(self, name: &str, read: impl Fn(&'a Value) -> Option<T>) -> Option<Vec<T>> {
        self.value(name)?.as_array()?.iter().map(read).collect()
    }

    /// A list of texts that `parse` reads.
    pub(crate) fn texts<T>(self, name: &str, parse: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
        self.list(name, |value| parse(value.as_str()?))
    }

    pub(crate) fn money(self, name: &str, assets: &[Arc<Asset>]) -> Option<Money> {
        money(self.value(name)?, assets)
    }
}

/// A list as it is written.
pub(crate) fn array<T>(items: &[T], write: impl Fn(&T) -> Value) -> Value {
    items.iter().map(write).collect::<Vec<_>>().into()
}

/// An amount as it is stored: in units, for a sum may be more than a text may name.
pub(crate) fn stored_money(money: &Money) -> Object {
    Object::new().with("units", money.units().to_string()).with("currency", money.currency())
}

/// An amount that was stored.
pub(crate) fn money(value: &Value, assets: &[Arc<Asset>]) -> Option<Money> {
    let stored = Stored::of(value)?;
    let currency = stored.parsed("currency", |code| Currency::find(code, assets))?;
    Some(Money::new(stored.parsed("units", |units| units.parse().ok())?, currency))
}

pub(crate) fn stored_hash(hash: &Hash) -> Value {
    digest_text(hash).into()
}

fn hash(text: &str) -> Option<Hash> {
    Digest::parse(text).map(|digest| Hash::from(*digest.bytes()))
}

/// An asset as it is stored.
pub(crate) fn stored_asset(asset: &Asset) -> Object {
    Object::new().with("id", asset.id()).with("symbol", asset.symbol()).with("decimals", u32::from(asset.decimals()))
}

/// An asset that was stored.
pub(crate) fn asset(value: &Value) -> Option<Arc<Asset>> {
    let stored = Stored::of(value)?;
    Asset::new(stored.text("id")?, stored.text("symbol")?, stored.number("decimals")?.try_into().ok()?).map(Arc::new)
}
