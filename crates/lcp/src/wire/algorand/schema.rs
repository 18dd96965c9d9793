//! The fields of a signed transaction.

/// The form of a field's value.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// A number up to this one.
    Uint(u64),
    Flag,
    Text,
    Bytes,
    /// So many bytes.
    Fixed(usize),
    List(&'static Form),
    /// Entries by number.
    Map(&'static Form),
    Object(&'static [Field]),
    /// An object that may also stand as the list of its fields' values.
    Tuple(&'static [Field]),
    /// A value that is there or not, even if it is zero.
    Optional(&'static Form),
}

/// A field.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) form: Form,
    pub(super) of: Of,
}

/// What has a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    /// Everything.
    All,
    /// A type of transaction.
    Type(&'static str),
    /// The struct of one reader; the other passes over it.
    OneReader,
}

const fn field(name: &'static str, form: Form) -> Field {
    Field { name, form, of: Of::All }
}

const fn of(kind: &'static str, name: &'static str, form: Form) -> Field {
    Field { name, form, of: Of::Type(kind) }
}

const U8: Form = Form::Uint(0xFF);
const U16: Form = Form::Uint(0xFFFF);
const U32: Form = Form::Uint(0xFFFF_FFFF);
const U64: Form = Form::Uint(u64::MAX);
const KEY: Form = Form::Fixed(32);
const SIGNATURE: Form = Form::Fixed(64);

/// A transaction with what signs it.
pub(super) const SIGNED: &[Field] = &[
    field("sig", SIGNATURE),
    field("msig", MULTISIG),
    field("lsig", LOGIC_SIG),
    Field { name: "pqsig", form: POST_QUANTUM_SIG, of: Of::OneReader },
    field("txn", Form::Object(TRANSACTION)),
    field("sgnr", KEY),
];

const MULTISIG: Form =
    Form::Tuple(&[field("v", U8), field("thr", U8), field("subsig", Form::List(&Form::Tuple(&[field("pk", KEY), field("s", SIGNATURE)])))]);

const LOGIC_SIG: Form = Form::Tuple(&[
    field("l", Form::Bytes),
    field("sig", SIGNATURE),
    field("msig", MULTISIG),
    field("lmsig", MULTISIG),
    Field { name: "pqsig", form: POST_QUANTUM_SIG, of: Of::OneReader },
    field("arg", Form::List(&Form::Bytes)),
]);

const POST_QUANTUM_SIG: Form = Form::Tuple(&[field("sch", Form::Fixed(2)), field("slt", U8), field("pk", Form::Bytes), field("sig", Form::Bytes)]);

/// A transaction.
pub(super) const TRANSACTION: &[Field] = &[
    field("type", Form::Text),
    field("snd", KEY),
    field("fee", U64),
    field("fv", U64),
    field("lv", U64),
    field("note", Form::Bytes),
    field("gen", Form::Text),
    field("gh", KEY),
    field("grp", KEY),
    field("lx", KEY),
    field("rekey", KEY),
    of("keyreg", "votekey", KEY),
    of("keyreg", "selkey", KEY),
    of("keyreg", "sprfkey", Form::Fixed(64)),
    of("keyreg", "votefst", U64),
    of("keyreg", "votelst", U64),
    of("keyreg", "votekd", U64),
    of("keyreg", "nonpart", Form::Flag),
    of("pay", "rcv", KEY),
    of("pay", "amt", U64),
    of("pay", "close", KEY),
    of("acfg", "caid", U64),
    of("acfg", "apar", ASSET_PARAMS),
    of("axfer", "xaid", U64),
    of("axfer", "aamt", U64),
    of("axfer", "asnd", KEY),
    of("axfer", "arcv", KEY),
    of("axfer", "aclose", KEY),
    of("afrz", "fadd", KEY),
    of("afrz", "faid", U64),
    of("afrz", "afrz", Form::Flag),
    of("appl", "apid", U64),
    of("appl", "apan", U64),
    of("appl", "apaa", Form::List(&Form::Bytes)),
    of("appl", "apat", Form::List(&KEY)),
    of("appl", "apfa", Form::List(&U64)),
    of("appl", "apas", Form::List(&U64)),
    of("appl", "apbx", Form::List(&Form::Tuple(&[field("i", U64), field("n", Form::Bytes)]))),
    of("appl", "apls", STATE_SCHEMA),
    of("appl", "apgs", STATE_SCHEMA),
    of("appl", "apap", Form::Bytes),
    of("appl", "apsu", Form::Bytes),
    of("appl", "apep", U32),
    of("appl", "aprv", U64),
    of("stpf", "sptype", U64),
    of("stpf", "sp", STATE_PROOF),
    of("stpf", "spmsg", STATE_PROOF_MESSAGE),
    of("hb", "hb", Form::Optional(&HEARTBEAT)),
];

const ASSET_PARAMS: Form = Form::Tuple(&[
    field("t", U64),
    field("dc", U32),
    field("df", Form::Flag),
    field("un", Form::Text),
    field("an", Form::Text),
    field("au", Form::Text),
    field("am", KEY),
    field("m", KEY),
    field("r", KEY),
    field("f", KEY),
    field("c", KEY),
]);

const STATE_SCHEMA: Form = Form::Tuple(&[field("nui", U64), field("nbs", U64)]);

const STATE_PROOF: Form = Form::Tuple(&[
    field("c", Form::Bytes),
    field("w", U64),
    field("S", MERKLE_PROOF),
    field("P", MERKLE_PROOF),
    field("v", U8),
    field("r", Form::Map(&REVEAL)),
    field("pr", Form::List(&U64)),
]);

const MERKLE_PROOF: Form = Form::Tuple(&[field("pth", Form::List(&Form::Bytes)), field("hsh", Form::Tuple(&[field("t", U16)])), field("td", U8)]);

const REVEAL: Form = Form::Tuple(&[
    field("s", Form::Tuple(&[field("s", MERKLE_SIGNATURE), field("l", U64)])),
    field("p", Form::Tuple(&[field("p", Form::Tuple(&[field("cmt", Form::Fixed(64)), field("lf", U64)])), field("w", U64)])),
]);

const MERKLE_SIGNATURE: Form = Form::Tuple(&[
    field("sig", Form::Bytes),
    field("idx", U64),
    field("prf", MERKLE_PROOF),
    // A Falcon key.
    field("vkey", Form::Tuple(&[field("k", Form::Fixed(1793))])),
]);

const STATE_PROOF_MESSAGE: Form = Form::Tuple(&[field("b", Form::Bytes), field("v", Form::Bytes), field("P", U64), field("f", U64), field("l", U64)]);

const HEARTBEAT: Form = Form::Tuple(&[
    field("a", KEY),
    field("prf", Form::Tuple(&[field("s", SIGNATURE), field("p", KEY), field("p2", KEY), field("p1s", SIGNATURE), field("p2s", SIGNATURE)])),
    field("sd", KEY),
    field("vid", KEY),
    field("kd", U64),
    field("c", Form::Flag),
]);
