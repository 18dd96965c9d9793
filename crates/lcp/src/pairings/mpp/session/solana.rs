//! `mpp/session/solana`: a transaction that the wallet builds opens a payment channel whose salt is the first 8 bytes of H;
//! vouchers then pay inside it. The channel's vouchers are signed by the client, or by an operator for it.

use crate::{
    Hash, Object, Refusal, Text, Value,
    account::Account,
    inputs, json,
    mpp::{
        CARRIER_NOT_CHALLENGE, CHOICE_MALFORMED, INPUT_MISSING, Method, Mpp, NO_PAYABLE_OPTION, Offer,
        credential::{Answered, CREDENTIAL_MALFORMED, Credential, OneStep, Payload, ReadBack, Waiting},
        details,
        session::{CHANNEL_NAMED, Next, SESSION_ACTION, Session, Sessions, WITHIN_ACTION_NOT_BUILT, action},
        solana::Cluster,
    },
    pairing::{Buyer, Channel, ChannelRef, Choice, Unsigned},
    solana::{self, INPUT_MALFORMED, is_key_text},
    wire::{
        evm::U256,
        solana::{Address, Loaded, Message, Signature, Transaction, Unresolved, base58, payment_channels, payment_channels::OpenCall},
    },
};

pub(crate) static PAIRING: Mpp<Solana> = Mpp(Solana);

pub(crate) struct Solana;

const NETWORK_UNDECLARED: Refusal = Refusal::new("svm/network-undeclared");
const OPEN_NOT_FOUND: Refusal = Refusal::new("svm/open-not-found");
const READ_FIRST: Refusal = Refusal::new("svm/read-first");
const TABLE_UNUSABLE: Refusal = Refusal::new("svm/table-unusable");
const CHANNEL_MISMATCH: Refusal = Refusal::new("svm/channel-mismatch");
const PROOF_NOT_CHALLENGE: Refusal = Refusal::new("svm/proof-not-challenge");
const SIGNER_NOT_OPERATOR: Refusal = Refusal::new("svm/signer-not-operator");

/// What a challenge that opens a channel asks for.
struct Terms {
    cluster: Cluster,
    program: Address,
    blockhash: Address,
    slot: U256,
    /// Who signs the channel's vouchers instead of the client.
    operator: Option<Address>,
}

impl Terms {
    fn of(offer: &Offer<'_>) -> Result<Self, Refusal> {
        let details = offer.details();
        if details.has("channelId") {
            return Err(CHANNEL_NAMED);
        }
        let cluster = Cluster::named(details)?;
        let read = || {
            Address::of(&offer.request, "currency")?;
            Address::of(&offer.request, "recipient")?;
            Some(Self {
                cluster,
                program: Address::of(details, "channelProgram")?,
                blockhash: Address::of(details, "recentBlockhash")?,
                slot: details.get("recentSlot").and_then(Value::as_str).and_then(U256::from_decimal)?,
                operator: match details.get("voucherSigner").map(Value::as_str) {
                    None | Some(Some("client")) => None,
                    Some(Some("operator")) => Some(Address::of(details, "operator")?),
                    Some(_) => return None,
                },
            })
        };
        read().ok_or(INPUT_MALFORMED)
    }

    /// Whether a payload opens a channel over the offer's hash.
    fn judge(&self, payload: &Object, offer: &Offer<'_>, landed: Option<&Value>) -> Result<(), Refusal> {
        if action(payload) != Some("open") {
            return Err(SESSION_ACTION);
        }
        let opened = Opened::read(payload, &self.program)?;
        if !offer.h.bytes().starts_with(&opened.call.salt) {
            return Err(CARRIER_NOT_CHALLENGE);
        }
        let channel = Address::of(payload, "channelId").ok_or(CHANNEL_MISMATCH)?;
        if payload.has("authentication") != self.operator.is_some() {
            return Err(CREDENTIAL_MALFORMED);
        }
        if self.operator.is_some() && proven(payload) != offer.challenge.id {
            return Err(PROOF_NOT_CHALLENGE);
        }
        let accounts = opened.accounts(landed)?;
        let account = |index: u8| accounts.get(usize::from(index)).copied();
        if account(opened.call.channel) != Some(channel) {
            return Err(CHANNEL_MISMATCH);
        }
        if self.operator.is_some() && account(opened.call.authorized_signer) != self.operator {
            return Err(SIGNER_NOT_OPERATOR);
        }
        Ok(())
    }
}

/// The id of the challenge that an authentication proves.
fn proven(payload: &Object) -> Option<&Text> {
    payload.get("authentication")?.get("challengeId")?.as_text()
}

/// A transaction that opens a channel.
struct Opened {
    message: Message,
    call: OpenCall,
}

impl Opened {
    fn read(payload: &Object, program: &Address) -> Result<Self, Refusal> {
        let message = Transaction::read(payload.get("transaction"))?.message;
        let call = OpenCall::only(&message, program).filter(|call| usize::from(call.channel) < message.account_count());
        call.map(|call| Self { message, call }).ok_or(OPEN_NOT_FOUND)
    }

    /// The accounts of the transaction. Those in lookup tables are read before, and held as the `tables` of the receipt.
    fn accounts(&self, landed: Option<&Value>) -> Result<Vec<Address>, Refusal> {
        let tables = if self.message.lookups.is_empty() { Vec::new() } else { landed.and_then(tables).ok_or(READ_FIRST)? };
        self.message.accounts(&tables).map_err(|unresolved| match unresolved {
            Unresolved::OtherTables => READ_FIRST,
            Unresolved::Repeated => TABLE_UNUSABLE,
        })
    }
}

/// The lookup tables in a receipt.
fn tables(landed: &Value) -> Option<Vec<Loaded>> {
    let addresses = |table: &Object, name| {
        let addresses = table.get(name)?.as_array()?;
        addresses.iter().map(|address| Address::parse(address.as_str()?)).collect::<Option<_>>()
    };
    let table = |table: &Value| {
        let table = table.as_object()?;
        Some(Loaded { table: Address::of(table, "address")?, writable: addresses(table, "writable")?, readonly: addresses(table, "readonly")? })
    };
    landed.get("tables")?.as_array()?.iter().map(table).collect()
}

impl Method for Solana {
    fn id(&self) -> &'static str {
        "mpp/session/solana"
    }

    fn pays(&self, offer: &Offer<'_>) -> Result<(), Refusal> {
        Terms::of(offer).map(|_| ())
    }

    fn network(&self, offer: &Offer<'_>) -> Option<String> {
        Cluster::named(offer.details()).ok()?.network().map(str::to_owned)
    }

    fn choose(&self, _offer: &Offer<'_>, buyer: &Buyer<'_>) -> Result<Object, Refusal> {
        let account = Account::parse(buyer.account).filter(|account| is_key_text(&account.address)).ok_or(NO_PAYABLE_OPTION)?;
        let deposit = inputs::decimal(buyer.inputs, "deposit").map_err(|_| INPUT_MISSING)?;
        Ok(Object::new().with("from", account.address).with("now", buyer.now).with_some("deposit", deposit))
    }

    fn build(&self, chosen: &Choice<'_>) -> Result<Box<dyn Unsigned>, Refusal> {
        let choice = chosen.choice;
        choice.get("challenge").and_then(Value::as_object).ok_or(CHOICE_MALFORMED)?;
        inputs::decimal(choice, "deposit").map_err(|_| CHOICE_MALFORMED)?;
        let offer = Offer::chosen(self, chosen)?;
        let terms = Terms::of(&offer)?;
        let network = terms.cluster.network().ok_or(NETWORK_UNDECLARED)?;
        // Little-endian.
        let salt = offer.h.bytes().iter().take(8).rfold(0u64, |salt, &byte| salt << 8 | u64::from(byte));
        let request = Object::new()
            .with("kind", "solana-session-open")
            .with("salt", salt.to_string())
            .with("channelProgram", terms.program)
            .with("network", network)
            .with("recentBlockhash", terms.blockhash)
            .with("recentSlot", terms.slot.to_string());
        let opening = Opening {
            proven: terms.operator.is_some(),
            id: offer.challenge.id.cloned(),
            from: choice.get("from").and_then(Value::as_str).map(str::to_owned),
            request: request.into(),
        };
        Ok(Box::new(ReadBack { pairing: &PAIRING, unsigned: Waiting::new(&offer.challenge, None, opening) }))
    }

    fn bound(&self, offer: &Offer<'_>, credential: &Credential<'_>, landed: Option<&Value>) -> Result<Hash, Refusal> {
        Terms::of(offer)?.judge(credential.payload, offer, landed)?;
        Ok(offer.h)
    }

    fn channel(&self) -> Option<&dyn Channel> {
        Some(&Sessions(Self))
    }
}

/// An opening, which is the wallet's to build.
struct Opening {
    /// Whether it is proven to an operator.
    proven: bool,
    /// The challenge's id.
    id: Option<Text>,
    /// The payer, who proves to an operator that the channel is opened for the challenge.
    from: Option<String>,
    request: Value,
}

impl Opening {
    /// What the payer signs for the operator.
    fn proof_request(&self, opening: &Object, from: &str) -> Result<Value, Refusal> {
        let channel = solana::key_text(opening, "channelId").ok().flatten().ok_or(CREDENTIAL_MALFORMED)?;
        let proof = Object::new()
            .with("channelId", channel)
            .with("domain", "mpp-session-auth-v1")
            .with("payer", from)
            .with_some("sessionChallengeId", self.id.clone());
        let message = json::canonical(&proof.into()).ok_or(CREDENTIAL_MALFORMED)?;
        Ok(solana::raw_request(message.as_bytes(), from))
    }
}

impl Payload for Opening {
    fn request(&self) -> Result<Value, Refusal> {
        Ok(self.request.clone())
    }

    fn complete(&self, answer: &Value) -> Result<Answered, Refusal> {
        if !self.proven {
            let opening = answer.as_object().ok_or(CREDENTIAL_MALFORMED)?;
            return Ok(Answered::Payload(opening.clone(), None));
        }
        let from = self.from.as_deref().ok_or(CHOICE_MALFORMED)?;
        if let Some(opening) = answer.as_object() {
            return self.proof_request(opening, from).map(Answered::Next);
        }
        let Some([opening, proof]) = answer.as_array() else { return Err(CREDENTIAL_MALFORMED) };
        let (Some(opening), Some(proof)) = (opening.as_object(), proof.as_str().filter(|proof| is_proof(proof))) else {
            return Err(CREDENTIAL_MALFORMED);
        };
        let authentication =
            Object::new().with("type", "proof").with_some("challengeId", self.id.clone()).with("payer", from).with("signature", proof);
        Ok(Answered::Payload(opening.clone().with("authentication", authentication), None))
    }
}

/// Whether the text is as long as a signature's, and of its letters.
fn is_proof(text: &str) -> bool {
    (64..=88).contains(&text.len()) && text.bytes().all(base58::is_letter)
}

impl Session for Solana {
    fn named_channel(&self, request: &Object) -> Result<Option<ChannelRef>, Refusal> {
        let details = details(request);
        if details.has("channelId") { channel_ref(details, details).map(Some) } else { Ok(None) }
    }

    fn channel_of(&self, request: &Object, payload: &Object, _landed: Option<&Value>) -> Result<ChannelRef, Refusal> {
        channel_ref(details(request), payload)
    }

    fn amount_bits(&self, _request: &Object) -> Result<u32, Refusal> {
        Ok(u64::BITS)
    }

    fn pay_inside(&self, next: &Next<'_>) -> Result<Box<dyn Payload>, Refusal> {
        if names_operator(next.opening_request) {
            return Err(WITHIN_ACTION_NOT_BUILT);
        }
        if names_operator(next.request) {
            return Err(if next.action == "close" { CREDENTIAL_MALFORMED } else { SESSION_ACTION });
        }
        let program = Address::of(details(next.opening_request), "channelProgram").ok_or(INPUT_MALFORMED)?;
        let opened = Opened::read(next.opening, &program)?;
        let accounts = opened.accounts(next.landed)?;
        let signer = accounts.get(usize::from(opened.call.authorized_signer)).ok_or(OPEN_NOT_FOUND)?.to_string();
        let channel = Address::parse(&next.held.channel).ok_or(CHANNEL_MISMATCH)?;
        let cumulative = u64::try_from(next.cumulative).map_err(|_| INPUT_MALFORMED)?;
        let request = solana::raw_request(&payment_channels::voucher(&channel, cumulative), &signer);
        let action = next.action;
        let payload = move |answer: &Value| {
            let signature: Signature = answer.as_str().and_then(base58::decode).ok_or(CREDENTIAL_MALFORMED)?;
            let voucher = Object::new()
                .with("voucher", Object::new().with("channelId", channel).with("cumulativeAmount", cumulative.to_string()))
                .with("signer", signer.as_str())
                .with("signature", base58::encode(&signature))
                .with("signatureType", "ed25519");
            Ok(Object::new().with("action", action).with("channelId", channel).with("voucher", voucher))
        };
        Ok(Box::new(OneStep { request, payload }))
    }
}

/// The channel that an object's `channelId` names, on the network that details name.
fn channel_ref(details: &Object, holder: &Object) -> Result<ChannelRef, Refusal> {
    let network = Cluster::named(details)?.network().ok_or(NETWORK_UNDECLARED)?;
    let channel = Address::of(holder, "channelId").ok_or(CHANNEL_MISMATCH)?;
    Ok(ChannelRef { network: network.to_owned(), channel: channel.to_string() })
}

/// Whether a request leaves vouchers to an operator.
fn names_operator(request: &Object) -> bool {
    details(request).get("voucherSigner").and_then(Value::as_str) == Some("operator")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        ConfirmedHash, Declined, encoding,
        mpp::sample::challenge,
        pairing::{ChannelAct, Completed, Pairing, Within, WithinAsk, WithinBuild},
        wire::solana::{CompiledInstruction, Lookup},
    };

    const PAYER: &str = "H114TvVMTRoh9Aar3vdpfyxEVLdSDH4oi4xihVuWAgWN";
    const PROGRAM: &str = "CHNLxYvVA28MJP9PrFuDXccuoGXAx7jBacfLEkahyGsX";
    const CHANNEL: &str = "54EzdPWCtV8DyB7PPnXHLdcZDoxFCkUA73XNMiYakdEE";
    const SIGNER: &str = "Esfaf4JvbAY2qa6qaY2StFH4tbVJ8CV2R1xdYdz9oXR8";
    const NETWORK: &str = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";

    fn h() -> Hash {
        Hash::of(b"abc")
    }

    fn address(text: &str) -> Address {
        Address::parse(text).unwrap()
    }

    fn details() -> Object {
        Object::new()
            .with("network", "devnet")
            .with("channelProgram", PROGRAM)
            .with("recentBlockhash", "439bvEwoZYj9kQfuXnDqffdKRrjt6B9XYEbVGns7mvFn")
            .with("recentSlot", "0123")
    }

    fn operated() -> Object {
        details().with("voucherSigner", "operator").with("operator", SIGNER)
    }

    fn request(details: Object) -> Object {
        Object::new().with("amount", "100").with("currency", PROGRAM).with("recipient", PAYER).with("methodDetails", details)
    }

    fn opening_message() -> Message {
        let keys = [PAYER, PROGRAM, SIGNER, CHANNEL].map(address);
        let data = [&[1], &h().bytes()[..8], &[0; 24]].concat();
        let instructions = vec![CompiledInstruction { program: 1, accounts: vec![0, 0, 0, 0, 2, 3], data }];
        let (signers, readonly_signers, readonly_others) = (1, 0, 2);
        Message { versioned: true, signers, readonly_signers, readonly_others, keys: keys.into(), blockhash: [0; 32], instructions, lookups: vec![] }
    }

    fn opening(message: Message) -> Object {
        let transaction = message.signed(&address(PAYER), [5; 64]).unwrap();
        Object::new().with("action", "open").with("transaction", encoding::base64(&transaction.encode())).with("channelId", CHANNEL)
    }

    fn choose(details: Object, inputs: &Object) -> Result<Object, Refusal> {
        let account = format!("{NETWORK}:{PAYER}");
        let buyer = Buyer { account: &account, inputs, now: 1, random: &|_| () };
        PAIRING.choose(&PAIRING.read(&[challenge(&h(), "session", "solana", request(details)).into()].into())?, &buyer)
    }

    fn build(choice: &Object) -> Result<Box<dyn Unsigned>, Refusal> {
        PAIRING.build(&Choice { choice, reference: &Value::Null, h: &ConfirmedHash::rehash(b"abc"), atr: b"abc" })
    }

    fn complete(details: Object, answer: impl Into<Value>) -> Result<Completed, Refusal> {
        build(&choose(details, &Object::new()).unwrap()).unwrap().complete(&answer.into())
    }

    fn signed(completed: Result<Completed, Refusal>) -> Value {
        match completed {
            Ok(Completed::Payment { signed, .. }) => signed,
            other => panic!("{other:?}"),
        }
    }

    fn refused(details: Object, answer: impl Into<Value>) -> String {
        complete(details, answer).unwrap_err().code().to_owned()
    }

    #[test]
    fn the_wallet_is_asked_for_a_channel_whose_salt_is_of_h() {
        let choice = choose(details(), &Object::new().with("deposit", "5")).unwrap();
        assert_eq!(choice.without("challenge"), Object::new().with("from", PAYER).with("now", 1u32).with("deposit", "5"));
        let asked = Object::new()
            .with("kind", "solana-session-open")
            // The first 8 bytes of H are ba7816bf8f01cfea.
            .with("salt", 0xEACF_018F_BF16_78BAu64.to_string())
            .with("channelProgram", PROGRAM)
            .with("network", NETWORK)
            .with("recentBlockhash", "439bvEwoZYj9kQfuXnDqffdKRrjt6B9XYEbVGns7mvFn")
            .with("recentSlot", "123");
        assert_eq!(build(&choice).unwrap().request(), Ok(Some(asked.into())));
        assert_eq!(build(&choice.clone().with("deposit", 5u32)).err().unwrap().code(), "mpp/choice-malformed");
        assert_eq!(build(&choice.with("challenge", Value::Null)).err().unwrap().code(), "mpp/choice-malformed");
        assert_eq!(choose(details(), &Object::new().with("deposit", "x")).unwrap_err().code(), "mpp/input-missing");
        for unpaid in [
            details().with("network", "localnet"),
            details().with("channelId", CHANNEL),
            details().with("recentSlot", "x"),
            details().with("voucherSigner", "operator"),
        ] {
            assert_eq!(choose(unpaid, &Object::new()).unwrap_err().code(), "mpp/no-payable-option");
        }
    }

    #[test]
    fn an_opening_is_the_payload() {
        let payment = signed(complete(details(), opening(opening_message()).with("deposit", "5")));
        assert_eq!(payment.get("payload"), Some(&opening(opening_message()).with("deposit", "5").into()));
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));
        let channel = PAIRING.channel().unwrap();
        assert_eq!(channel.kind(&payment), Ok(ChannelAct::Open));
        assert_eq!(channel.reference(&payment, None), Ok(ChannelRef { network: NETWORK.to_owned(), channel: CHANNEL.to_owned() }));
    }

    #[test]
    fn an_opening_is_refused_for_its_first_fault() {
        let edited = |edit: fn(&mut Message)| {
            let mut message = opening_message();
            edit(&mut message);
            refused(details(), opening(message))
        };
        assert_eq!(refused(details(), "x"), "mpp/credential-malformed");
        assert_eq!(refused(details(), opening(opening_message()).with("action", "close")), "mpp/session-action");
        assert_eq!(refused(details(), opening(opening_message()).with("transaction", "x")), "svm/tx-malformed");
        assert_eq!(edited(|message| message.instructions[0].accounts[5] = 4), "svm/open-not-found");
        assert_eq!(edited(|message| message.instructions.push(message.instructions[0].clone())), "svm/open-not-found");
        assert_eq!(edited(|message| message.instructions[0].data[1] ^= 1), "mpp/carrier-not-challenge");
        assert_eq!(refused(details(), opening(opening_message()).with("channelId", "x")), "svm/channel-mismatch");
        assert_eq!(refused(details(), opening(opening_message()).with("authentication", Object::new())), "mpp/credential-malformed");
        assert_eq!(edited(|message| message.instructions[0].accounts[5] = 2), "svm/channel-mismatch");
        let loading = |message: &mut Message| message.lookups = vec![Lookup { table: address(PROGRAM), writable: vec![0], readonly: vec![] }];
        assert_eq!(edited(loading), "svm/read-first");
    }

    #[test]
    fn tables_are_read_from_the_receipt() {
        let payment = signed(complete(details(), opening(opening_message())));
        let mut message = opening_message();
        message.keys.pop();
        message.readonly_others = 1;
        message.lookups = vec![Lookup { table: address(PROGRAM), writable: vec![7], readonly: vec![] }];
        let payment: Value = payment.as_object().unwrap().clone().with("payload", opening(message)).into();
        let bound = |tables: Value| PAIRING.bound(&payment, Some(&Object::new().with("tables", tables).into()));
        let table = |writable: &[&str]| {
            let writable: Vec<Value> = writable.iter().map(|&key| key.into()).collect();
            Value::from([Object::new().with("address", PROGRAM).with("writable", writable).with("readonly", vec![]).into()])
        };
        assert_eq!(bound(table(&[CHANNEL])), Ok(h()));
        assert_eq!(bound(table(&[NETWORK])).unwrap_err(), READ_FIRST);
        assert_eq!(bound(table(&[])).unwrap_err(), READ_FIRST);
        assert_eq!(bound(vec![].into()).unwrap_err(), READ_FIRST);
        assert_eq!(bound(table(&[SIGNER])).unwrap_err(), TABLE_UNUSABLE);
        assert_eq!(PAIRING.bound(&payment, None).unwrap_err(), READ_FIRST);
    }

    #[test]
    fn an_operators_channel_is_proven() {
        let Ok(Completed::Next(next)) = complete(operated(), opening(opening_message())) else { panic!("no proof is asked for") };
        let id = encoding::base64url(h().bytes()) + ".0";
        let message = format!(r#"{{"channelId":"{CHANNEL}","domain":"mpp-session-auth-v1","payer":"{PAYER}","sessionChallengeId":"{id}"}}"#);
        assert_eq!(next, solana::raw_request(message.as_bytes(), PAYER));
        let proof = "1".repeat(64);
        let payment = signed(complete(operated(), [opening(opening_message()).into(), proof.as_str().into()]));
        let authentication = Object::new().with("type", "proof").with("challengeId", id).with("payer", PAYER).with("signature", proof.as_str());
        assert_eq!(payment.get("payload").unwrap().get("authentication"), Some(&authentication.into()));
        assert_eq!(PAIRING.bound(&payment, None), Ok(h()));

        assert_eq!(refused(operated(), [opening(opening_message()).into(), "1".repeat(63).into()]), "mpp/credential-malformed");
        let mut message = opening_message();
        message.instructions[0].accounts[4] = 0;
        assert_eq!(refused(operated(), [opening(message).into(), proof.into()]), "svm/signer-not-operator");
        let with = |authentication: Value| {
            let payload = payment.get("payload").unwrap().as_object().unwrap().clone().with("authentication", authentication);
            PAIRING.bound(&payment.as_object().unwrap().clone().with("payload", payload).into(), None).unwrap_err()
        };
        assert_eq!(with(Value::Null), PROOF_NOT_CHALLENGE);
        assert_eq!(with(Object::new().with("challengeId", "x").into()), PROOF_NOT_CHALLENGE);
    }

    fn within(opening: &Value, details: Object, charged: &str, refund: Option<&Object>) -> Result<WithinBuild, Declined> {
        let document = [challenge(&h(), "session", "solana", request(details.with("channelId", CHANNEL))).without("opaque").into()].into();
        let held = ChannelRef { network: NETWORK.to_owned(), channel: CHANNEL.to_owned() };
        let (h, inputs) = (ConfirmedHash::rehash(b"abc"), Object::new());
        let ask =
            WithinAsk { document: &document, h: &h, held: &held, opening, landed: None, charged, refund, inputs: &inputs, reference: &Value::Null };
        Within::build(&Sessions(Solana), &ask)
    }

    #[test]
    fn a_voucher_and_a_close() {
        let opened = signed(complete(details(), opening(opening_message())));
        for (refund, action, signed_for, act) in
            [(None, "voucher", "107", ChannelAct::Within), (Some(&Object::new()), "close", "7", ChannelAct::Close)]
        {
            let build = within(&opened, Object::new().with("network", "devnet"), "7", refund).unwrap();
            assert_eq!((build.signed_for.as_str(), build.act), (signed_for, act));
            let payment = signed(build.unsigned.complete(&[Value::from("1".repeat(64))].into()));
            let voucher = Object::new()
                .with("voucher", Object::new().with("channelId", CHANNEL).with("cumulativeAmount", signed_for))
                .with("signer", SIGNER)
                .with("signature", "1".repeat(64))
                .with("signatureType", "ed25519");
            let payload = Object::new().with("action", action).with("channelId", CHANNEL).with("voucher", voucher);
            assert_eq!(payment.get("payload"), Some(&payload.into()));
            assert_eq!(build.unsigned.complete(&[Value::from("1".repeat(63))].into()).unwrap_err(), CREDENTIAL_MALFORMED);
        }
    }

    #[test]
    fn vouchers_of_an_operator_are_not_built() {
        let detail = |opening: &Value, details: Object, refund| within(opening, details, "0", refund).err().unwrap().detail;
        let refund = Object::new();
        let client = signed(complete(details(), opening(opening_message())));
        let operators = signed(complete(operated(), [opening(opening_message()).into(), "1".repeat(64).into()]));
        let devnet = Object::new().with("network", "devnet");
        assert_eq!(detail(&operators, devnet.clone(), None), "mpp/within-action-not-built");
        assert_eq!(detail(&client, devnet.clone().with("voucherSigner", "operator"), None), "mpp/session-action");
        assert_eq!(detail(&client, devnet.clone().with("voucherSigner", "operator"), Some(&refund)), "mpp/credential-malformed");
        let mut message = opening_message();
        message.instructions[0].accounts[4] = 9;
        let unsigned_for = signed(complete(details(), opening(message)));
        assert_eq!(detail(&unsigned_for, devnet, None), "svm/open-not-found");
    }
}
