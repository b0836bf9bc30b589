# SPDX-License-Identifier: GPL-2.0
"""What the kernel's primitives do to memory, and how each is weakened by one step."""

import re

PLAIN = "a plain access"
SPLIT = "a load and a store"

# Where one is asked for, the others could have been, and another text of the code may
# have them: each row from the strongest to the weakest.
FAMILIES = (
    ("smp_load_acquire", "READ_ONCE", PLAIN),
    ("smp_store_release", "WRITE_ONCE", PLAIN),
    ("smp_mb", "smp_rmb", "smp_wmb"),
    *((name, f"{name}_acquire", f"{name}_release", f"{name}_relaxed")
      for name in ("xchg", "cmpxchg", "atomic_inc_return")),
    ("atomic_read",),
    ("atomic_inc",),
)
# Without this order, that is what remains.
WEAKENED = {
    ("smp_load_acquire", "acquire"): "READ_ONCE",
    ("smp_store_release", "release"): "WRITE_ONCE",
    ("smp_rmb", "read"): "",
    ("smp_wmb", "write"): "",
    ("smp_mb", "full"): "smp_rmb",
    ("WRITE_ONCE", "marked"): PLAIN,
}
for _name in ("xchg", "cmpxchg", "atomic_inc_return"):
    WEAKENED[_name, "acquire"] = f"{_name}_release"
    WEAKENED[_name, "release"] = f"{_name}_acquire"
    for _suffix in ("", "_acquire", "_release", "_relaxed"):
        WEAKENED[f"{_name}{_suffix}", "atomic"] = SPLIT
    WEAKENED[f"{_name}_acquire", "acquire"] = f"{_name}_relaxed"
    WEAKENED[f"{_name}_release", "release"] = f"{_name}_relaxed"


def in_model(primitive):
    """What the memory model calls one of the code's: it has no sizes.

    Nor has it contexts that interrupt each other on a CPU; they are CPUs there. A
    try_cmpxchg() returns whether it has swapped, which there is to compare what it found. Of
    nbq_arena_lock.h, a BPF program's surroundings have one that is not the kernel's.
    """
    name = primitive.removeprefix("try_").removeprefix("nbq_")
    if name == "cmpxchg_local":
        return "cmpxchg_relaxed"
    return re.sub(r"^atomic(_long|64)_", "atomic_", name)


def family(primitive):
    """Those that could stand in its place, itself among them."""
    for names in FAMILIES:
        if in_model(primitive) in names:
            return names
    return (in_model(primitive),)


def location(primitive, argument):
    """READ_ONCE() and WRITE_ONCE() name what the others take the address of."""
    if primitive in ("READ_ONCE", "WRITE_ONCE"):
        return argument
    return argument[1:] if argument.startswith("&") else f"*{argument}"


def replaced(call, old, new):
    """The text of a call in a litmus test, by another primitive of its family."""
    if not new:
        return ""
    place, comma, value = call[len(old) + 1:-1].partition(", ")
    if old not in ("READ_ONCE", "WRITE_ONCE") and new in ("READ_ONCE", "WRITE_ONCE", PLAIN):
        place = f"*{place}"
    if new == PLAIN:
        return f"{place} = {value}" if comma else place
    return f"{new}({place}{comma}{value})"


def split(result, call, old):
    """The text of a swap that is none: others may come between its load and its store."""
    values = call[len(old) + 1:-1].split(", ")
    condition = f"if ({result} == {values[1]}) " if len(values) == 3 else ""
    return f"{result} = READ_ONCE(*{values[0]}); " \
           f"{condition}WRITE_ONCE(*{values[0]}, {values[-1]})"
