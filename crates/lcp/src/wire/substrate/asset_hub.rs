//! The calls of Asset Hub that a payment makes.

use super::{AccountId, compact};
use crate::wire::bytes::Reader;

/// `Utility.batch_all` of two calls, the first of which is `Assets.transfer_keep_alive`.
const TRANSFER: [u8; 5] = [40, 2, 2 << 2, 50, 9];
/// `System.remark_with_event`.
const REMARK: [u8; 2] = [0, 7];

/// A transfer and, in the same batch, a remark with an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransferWithRemark<'a> {
    /// The asset's id.
    pub asset: u32,
    /// Who is paid.
    pub to: AccountId,
    /// In the asset's smallest unit.
    pub amount: u128,
    /// The remark.
    pub remark: &'a [u8],
}

impl<'a> TransferWithRemark<'a> {
    /// The call's bytes.
    pub fn encode(&self) -> Vec<u8> {
        let mut call = TRANSFER.to_vec();
        compact::put(&mut call, self.asset.into());
        // An address that is an account's id.
        call.push(0);
        call.extend(self.to.bytes());
        compact::put(&mut call, self.amount);
        call.extend(REMARK);
        compact::put(&mut call, self.remark.len() as u128);
        call.extend(self.remark);
        call
    }

    /// Reads a call of exactly this form.
    pub fn decode(call: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(call);
        let transfers = reader.array() == Some(TRANSFER);
        let asset = compact::read(&mut reader).filter(|_| transfers)?.try_into().ok()?;
        let is_id = reader.byte()? == 0;
        let to = reader.array::<32>().filter(|_| is_id)?.into();
        let amount = compact::read(&mut reader)?;
        let remarks = reader.array() == Some(REMARK);
        let length = compact::read(&mut reader).filter(|_| remarks)?;
        let remark = reader.take(reader.left())?;
        (remark.len() as u128 == length).then_some(Self { asset, to, amount, remark })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Value, encoding, json};

    /// As scalecodec 1.2.12 writes the values.
    #[test]
    fn the_library_writes_the_same_bytes() {
        let cases = json::parse(include_str!("../../../tests/peers/substrate/cases.json"), 8).unwrap();
        let text = |of: &Value, name: &str| of.get(name).unwrap().as_str().unwrap().to_owned();
        let list = |name: &str| cases.get(name).unwrap().as_array().unwrap().to_vec();
        for case in list("compact") {
            let mut bytes = Vec::new();
            compact::put(&mut bytes, text(&case, "value").parse().unwrap());
            assert_eq!(encoding::hex(&bytes), text(&case, "bytes"));
        }
        let key: [u8; 32] = encoding::from_hex(&text(&cases, "key")).unwrap().try_into().unwrap();
        for address in list("addresses") {
            assert_eq!(AccountId::parse(address.as_str().unwrap()), Some(key.into()));
        }
    }

    /// As the public library makes them from Asset Hub's metadata, and reads them.
    #[test]
    fn the_library_makes_the_same_calls() {
        let library = json::parse(include_str!("../../../tests/peers/substrate/extrinsics.json"), json::MAX_DEPTH).unwrap();
        let text = |of: &Value, name: &str| of.get(name).unwrap().as_str().unwrap().to_owned();
        let list = |name: &str| library.get(name).unwrap().as_array().unwrap().to_vec();
        for case in list("calls") {
            let [asset, amount] = ["asset", "amount"].map(|name| text(&case, name).parse::<u128>().unwrap());
            let (to, remark) = (AccountId::parse(&text(&case, "to")).unwrap(), text(&case, "remark"));
            let call = TransferWithRemark { asset: asset.try_into().unwrap(), to, amount, remark: remark.as_bytes() };
            let made = encoding::from_hex(&text(&case, "call")).unwrap();
            assert_eq!(call.encode(), made);
            assert_eq!(TransferWithRemark::decode(&made), Some(call));
        }
        for case in list("others") {
            assert_eq!(TransferWithRemark::decode(&encoding::from_hex(&text(&case, "call")).unwrap()), None, "{case:?}");
        }
    }

    proptest! {
        #[test]
        fn round_trip(asset: u32, to: [u8; 32], amount: u128, remark in prop::collection::vec(any::<u8>(), 0..100)) {
            let call = TransferWithRemark { asset, to: to.into(), amount, remark: &remark };
            let bytes = call.encode();
            prop_assert_eq!(TransferWithRemark::decode(&bytes), Some(call));
            for cut in 0..bytes.len() {
                prop_assert_eq!(TransferWithRemark::decode(&bytes[..cut]), None);
            }
            let longer = [&bytes[..], &[0]].concat();
            prop_assert_eq!(TransferWithRemark::decode(&longer), None);
        }

        /// What is read is the one form of what it holds.
        #[test]
        fn changed_bytes(at in 0..170usize, to: u8) {
            let mut bytes = TransferWithRemark { asset: 1337, to: [7; 32].into(), amount: 1_500_000, remark: &[b'a'; 77] }.encode();
            if let Some(byte) = bytes.get_mut(at) {
                *byte = to;
            }
            if let Some(call) = TransferWithRemark::decode(&bytes) {
                prop_assert_eq!(call.encode(), bytes);
            }
        }
    }
}
