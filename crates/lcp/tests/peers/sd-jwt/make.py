"""Makes python.json: SD-JWTs issued, presented and verified by the PyPI package sd-jwt.

    python make.py > python.json
    python make.py read < python.json    verifies the tokens again, whose keys and salts are random

Needs sd-jwt (made with 0.10.4).
"""

import json
import sys

from jwcrypto.jwk import JWK
from sd_jwt.common import SDObj
from sd_jwt.holder import SDJWTHolder
from sd_jwt.issuer import SDJWTIssuer
from sd_jwt.verifier import SDJWTVerifier

ISSUER = JWK.generate(kty="EC", crv="P-256")
HOLDER = JWK.generate(kty="EC", crv="P-256")

CLAIMS = {
    "iss": "https://issuer.example",
    SDObj("given_name"): "Ada",
    SDObj("text"): 'é ✓ 😀 "\\/\n',
    "address": {SDObj("street"): "Main 1", "country": "GB"},
    SDObj("nested"): {SDObj("inner"): {SDObj("deepest"): [1, 2.5, None, True]}, "plain": -0.0},
    "list": [SDObj("one"), "two", SDObj({"three": 3, SDObj("four"): 4})],
}
EVERYTHING = {
    "given_name": True,
    "text": True,
    "address": {"street": True},
    "nested": {"inner": {"deepest": True}},
    "list": [True, False, {"four": True}],
}
CASES = [
    ("everything is disclosed", EVERYTHING, False, False),
    ("nothing is disclosed", {}, False, False),
    ("some claims are disclosed, among decoys", {"nested": True, "list": [True]}, True, False),
    ("a key is bound", {"given_name": True}, True, True),
]
# The nonce and the verifier that a bound key signs for.
BINDING, NO_BINDING = ("n-1", "https://verifier.example"), (None, None)


def made(name, shown, decoys, binds):
    header = {"typ": "example+sd-jwt", "kid": "issuer-1"}
    issued = SDJWTIssuer(CLAIMS, ISSUER, HOLDER if binds else None, add_decoy_claims=decoys, extra_header_parameters=header)
    holder = SDJWTHolder(issued.sd_jwt_issuance)
    holder.create_presentation(shown, *(BINDING if binds else NO_BINDING), HOLDER if binds else None)
    return read(name, holder.sd_jwt_presentation, ISSUER.export_public(as_dict=True))


def read(name, token, key):
    nonce, aud = NO_BINDING if token.endswith("~") else BINDING
    claims = SDJWTVerifier(token, lambda issuer, header: JWK(**key), aud, nonce).get_verified_payload()
    return {"name": name, "token": token, "key": key, "claims": claims}


if sys.argv[1:] == ["read"]:
    cases = [read(case["name"], case["token"], case["key"]) for case in json.load(sys.stdin)]
else:
    cases = [made(*case) for case in CASES]
print(json.dumps(cases, indent=1))
