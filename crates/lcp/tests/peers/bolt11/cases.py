"""Makes BOLT11 invoices with one public library, and says what another reads in them, for the unit tests of wire/bolt11.

    python cases.py > cases.json    (after npm install in the folder above)

Needs bolt11 of PyPI (made with 2.2.0, over bitstring 4), which writes and signs them, and light-bolt11-decoder of npm (made
with 3.2.0).
"""

import json
import subprocess
from pathlib import Path

from bolt11 import Bolt11, Feature, FeatureState, Features, MilliSatoshi, Tag, TagChar, Tags, decode, encode

KEY = "e126f68f7eafcc8b74f54d269fe206be715000f94dac067d1c04a8ca3b2db734"
SECRET = Tag(TagChar.payment_secret, "11" * 32)
FEATURES = Tag(TagChar.features, Features.from_feature_list({Feature.var_onion_optin: FeatureState.required, Feature.payment_secret: FeatureState.required}))
HASH = "000102030405060708090001020304050607080900010203040506070809" + "0102"
H = "ab" * 32


def invoice(currency, amount, timestamp, *tags, payment_hash=HASH):
    tags = Tags([Tag(TagChar.payment_hash, payment_hash), SECRET, *tags, FEATURES])
    return Bolt11(currency=currency, date=timestamp, amount_msat=None if amount is None else MilliSatoshi(amount), tags=tags)


def case(name, made):
    text = encode(made, KEY)
    assert encode(decode(text), KEY) == text
    read = subprocess.run(["node", "decode.mjs", text], cwd=Path(__file__).parent, capture_output=True, check=True, text=True)
    return {"name": name, "invoice": text, **json.loads(read.stdout)}


described = Tag(TagChar.description_hash, H)
print(
    json.dumps(
        [
            case("described by a hash", invoice("bc", 25_000_000, 1790000000, described, Tag(TagChar.expire_time, 600))),
            case("described in words", invoice("tb", 1, 1790000000, Tag(TagChar.description, "caf\u00e9"))),
            case("without an amount", invoice("bcrt", None, 0, described)),
            case("with metadata", invoice("tbs", 100_000_000_000, 2**35 - 1, described, Tag(TagChar.metadata, "01" * 32), Tag(TagChar.expire_time, 2**32))),
        ],
        indent=1,
        ensure_ascii=False,
    )
)
