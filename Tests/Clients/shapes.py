"""The types that an app's decoder asks for, held against a JSON answer member by member.

A shape is a type (`str`, `bool`, `int`: an integer, and no truth value), a dict of members, a list of one shape for all of its
elements, a function that tells whether a value is right, or a tuple of shapes of which one must hold. A member whose name ends
in "?" may be missing or null. Members that a shape doesn't name are left alone, as decoders do.
"""

INT32 = range(-2**31, 2**31)


def kotlin_int(value):
    """Kotlin's Int."""
    return type(value) is int and value in INT32


def javascript_integer(value):
    """A number that JavaScript holds exactly."""
    return type(value) is int and abs(value) < 2**53


def text(value):
    """A text that says something."""
    return isinstance(value, str) and value != ""


def expect_shape(value, shape, path="answer"):
    fault = _fault(value, shape, path)
    assert fault is None, fault


def _fault(value, shape, path):
    if isinstance(shape, tuple):
        faults = [_fault(value, each, path) for each in shape]
        return None if None in faults else "; or ".join(faults)
    if isinstance(shape, dict):
        return _fault_of_object(value, shape, path)
    if isinstance(shape, list):
        if not isinstance(value, list):
            return f"{path} is no list but {value!r}"
        return next(filter(None, (_fault(each, shape[0], f"{path}[{i}]") for i, each in enumerate(value))), None)
    if isinstance(shape, type):
        # Exactly: True is an int to Python.
        return None if type(value) is shape else f"{path} is no {shape.__name__} but {value!r}"
    return None if shape(value) else f"{path} is no {shape.__name__} but {value!r}"


def _fault_of_object(value, shape, path):
    if not isinstance(value, dict):
        return f"{path} is no object but {value!r}"
    for name, inner in shape.items():
        member = name.removesuffix("?")
        if value.get(member) is None:
            if name.endswith("?"):
                continue
            if member not in value:
                return f"{path} has no {member}, only {sorted(value)}"
        fault = _fault(value[member], inner, f"{path}.{member}")
        if fault:
            return fault
    return None
