"""What the checks of the client share: the claims, and clients whose every answer is looked at on its way."""

import io
import json
import re
import sys
import urllib.parse
import urllib.request
import urllib.response

import enruta
import jsonschema
from enruta.errors import error_for_status

done = []
"""What was checked."""
wrong = []
"""What was not as it should be."""
ids = set()
"""The request ids of all answers."""
seen = []
"""(method, path, status, media type, body) of every answer."""
last = {}
"""The headers of the last answer."""


def same(got, want, what):
    done.append(what)
    if got != want:
        wrong.append(what)
        print(f"{what}: got {got!r}, not {want!r}", file=sys.stderr)


def holds(what, claim):
    same(bool(claim), True, what)


def refused(what, status, code, call, *args, **kwargs):
    try:
        answer = call(*args, **kwargs)
    except enruta.EnrutaError as error:
        same((error.status, error.code), (status, code), what)
        same(type(error), error_for_status(status), what + ", as the client's own error")
        same(error.request_id, last["x-request-id"], what + ", with its request id")
        holds(what + ", in words", len(error.message) > 30)
        return error
    same(answer, f"{status} {code}", what)
    return None


class Watch(urllib.request.BaseHandler):
    """Looks at each answer, as the client's `opener` allows."""

    def http_response(self, request, answer):
        last.clear()
        last.update({name.lower(): value for name, value in answer.headers.items()})
        ident = last.get("x-request-id", "")
        if not re.fullmatch(r"[\x21-\x7e]{8,64}", ident) or ident in ids:
            same(ident, "a fresh id", f"x-request-id of {request.full_url}")
        ids.add(ident)
        path, body = urllib.parse.urlsplit(request.full_url).path, answer.read()
        seen.append((request.get_method(), path, answer.status, last.get("content-type"), body))
        read = urllib.response.addinfourl(io.BytesIO(body), answer.headers, answer.url, answer.status)
        read.msg = answer.msg
        return read


def client(key, base_url, **more):
    return enruta.Enruta(key, base_url=base_url, opener=urllib.request.build_opener(Watch()), **more)


class Operation:
    """An operation of an OpenAPI document."""

    def __init__(self, document, path, method, operation):
        self.name = operation["operationId"]
        self._method = method.upper()
        self._path = re.compile(re.sub(r"\\{.*?\\}", "[^/]+", re.escape(path)))
        self._document = document
        self._responses = operation["responses"]

    def answers(self):
        """What was answered to it."""
        return [answer for answer in seen if answer[0] == self._method and self._path.fullmatch(answer[1])]

    def is_driven(self):
        return any(status < 300 for _, _, status, _, _ in self.answers())

    def faults(self):
        """Where an answer is not what the document says."""
        found = []
        for _, path, status, media_type, body in self.answers():
            said = self._responses.get(str(status), self._responses["default"])
            if "$ref" in said:
                said = self._document["components"]["responses"][said["$ref"].rsplit("/", 1)[1]]
            content = said["content"].get(media_type.split(";")[0])
            if content is None:
                found.append(f"{self.name} {path} {status}: {media_type}")
            elif media_type.startswith("application/json"):
                schema = {**content["schema"], "components": self._document["components"]}
                errors = jsonschema.Draft202012Validator(schema).iter_errors(json.loads(body))
                found += [f"{self.name} {path} {status}: {error.json_path}: {error.message[:200]}" for error in errors]
        return found


def operations(document):
    """The operations of an OpenAPI document, by their names."""
    found = [Operation(document, path, method, operation) for path, methods in document["paths"].items() for method, operation in methods.items()]
    # The fixed path of two that match comes first, and takes the answers.
    return {operation.name: operation for operation in found}


def methods(of, prefix=""):
    """The client's methods that call the server, each by its dotted name."""
    for name, member in sorted(vars(of).items()):
        if not name.startswith("_") and type(member).__module__.startswith("enruta."):
            for method in sorted(vars(type(member))):
                if not method.startswith("_"):
                    yield f"{prefix}{name}.{method}", getattr(member, method)
            yield from methods(member, f"{prefix}{name}.")


def stand_in(parameter):
    """An argument of the parameter's type, for a call that nobody serves."""
    if parameter.name == "action":
        return "pause"
    return "x" if parameter.annotation == "str" else {}


def without_secrets(value, secrets):
    """Whether none of the secrets stands in the JSON of the value."""
    text = json.dumps(value)
    return not any(secret in text for secret in secrets)
