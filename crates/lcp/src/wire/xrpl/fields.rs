//! What a transaction's fields are, as the ledger's servers define them: the definitions of hash 0F899579..., of 2026. A field,
//! type or result that they do not define is not read.

use super::Code;

pub(super) const LEDGER_ENTRY_TYPE: Code = (1, 1);
pub(super) const TRANSACTION_TYPE: Code = (1, 2);
pub(super) const NETWORK_ID: Code = (2, 1);
pub(super) const SEQUENCE: Code = (2, 4);
pub(super) const TICKET_SEQUENCE: Code = (2, 41);
pub(super) const PERMISSION_VALUE: Code = (2, 52);
pub(super) const INVOICE_ID: Code = (5, 17);
pub(super) const FEE_AMOUNT_DELTA: Code = (6, 34);
pub(super) const MEMO_DATA: Code = (7, 13);
pub(super) const ACCOUNT: Code = (8, 1);
pub(super) const DESTINATION: Code = (8, 3);
pub(super) const OBJECT_END: Code = (14, 1);
pub(super) const MEMO: Code = (14, 10);
pub(super) const ARRAY_END: Code = (15, 1);
pub(super) const SIGNERS: Code = (15, 3);
pub(super) const MEMOS: Code = (15, 9);
pub(super) const TRANSACTION_RESULT: Code = (16, 3);

pub(super) const PAYMENT: u16 = 0;
pub(super) const PAYMENT_CHANNEL_CREATE: u16 = 13;
pub(super) const UNL_MODIFY: u16 = 102;

/// Whether there is a field of that code, the ends of objects and arrays aside.
pub(super) fn is_field((kind, nth): Code) -> bool {
    match kind {
        1 => matches!(nth, 1..=6 | 16 | 21..=22),
        2 => matches!(nth, 1..=44 | 48 | 50..=80),
        3 => matches!(nth, 1..=13 | 19..=33),
        4 | 18 | 25 => nth == 1,
        5 => matches!(nth, 1..=14 | 16..=19 | 21..=29 | 34..=41),
        6 => matches!(nth, 1..=13 | 16..=19 | 22..=34),
        7 => matches!(nth, 1..=14 | 16..=21 | 26..=46),
        8 => matches!(nth, 1..=6 | 8..=12 | 18..=31),
        9 => matches!(nth, 1..=17),
        10 | 26 => matches!(nth, 1..=2),
        14 => matches!(nth, 2..=13 | 15..=16 | 18..=19 | 25..=38),
        15 => matches!(nth, 3..=10 | 12..=13 | 16..=17 | 21..=22 | 24..=31),
        16 => matches!(nth, 1..=6 | 16..=17 | 19..=22),
        17 | 21 | 24 => matches!(nth, 1..=4),
        19 => matches!(nth, 1..=5),
        _ => false,
    }
}

pub(super) fn is_transaction_type(number: u16) -> bool {
    matches!(number, 0..=5 | 7..=8 | 10 | 12..=21 | 25..=31 | 35..=71 | 74..=78 | 80..=82 | 84..=91 | 100..=102)
}

pub(super) fn is_ledger_entry_type(number: u16) -> bool {
    matches!(
        number,
        55 | 67 | 73 | 78 | 80 | 83..=84 | 97 | 100 | 102 | 104..=105 | 111..=117 | 120..=121 | 126..=132 | 136..=137 | 144
    )
}

/// The results of transactions that reach a ledger.
pub(super) fn is_result(number: u8) -> bool {
    matches!(number, 0 | 100..=105 | 121..=152 | 154..=197 | 199..=200)
}

/// What one account may let another do: a kind of transaction, by its number and one, or a part of one.
pub(super) fn is_permission(number: u32) -> bool {
    let kind = number.checked_sub(1).and_then(|kind| u16::try_from(kind).ok());
    kind.is_some_and(is_transaction_type) || matches!(number, 65_537..=65_548)
}
