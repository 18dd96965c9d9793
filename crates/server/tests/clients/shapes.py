"""Whether an answer has the shape that the client's types state."""

import types
import typing

import enruta.types


def faults(value, shape, at=""):
    """Where the value is not of the shape, in words."""
    origin, arguments = typing.get_origin(shape), typing.get_args(shape)
    if shape is typing.Any:
        return []
    if typing.is_typeddict(shape):
        if not isinstance(value, dict):
            return [f"{at}: no object"]
        hints = typing.get_type_hints(shape, vars(enruta.types))
        missing = [f"{at}.{name}: is missing" for name in shape.__required_keys__ - set(value)]
        return missing + [fault for name in hints if name in value for fault in faults(value[name], hints[name], f"{at}.{name}")]
    if origin in (typing.Union, types.UnionType):
        found = [faults(value, one, at) for one in arguments]
        return [] if [] in found else found[0]
    if origin is typing.Literal:
        return [] if value in arguments else [f"{at}: {value!r} is none of {arguments}"]
    if origin is list:
        return [fault for place, item in enumerate(value) for fault in faults(item, arguments[0], f"{at}[{place}]")] if isinstance(value, list) else [f"{at}: no list"]
    if origin is dict:
        return [fault for name, item in value.items() for fault in faults(item, arguments[1], f"{at}.{name}")] if isinstance(value, dict) else [f"{at}: no object"]
    is_of = isinstance(value, shape) and not (shape is int and isinstance(value, bool))
    return [] if is_of else [f"{at}: {value!r} is no {shape.__name__}"]


def lacks(value, shape, without=()):
    """The members that the shape names, whether or not it requires them, and that are not there."""
    return sorted(set(typing.get_type_hints(shape, vars(enruta.types))) - set(value) - set(without))
