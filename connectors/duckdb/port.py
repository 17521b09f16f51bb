"""A stream of Arrow rows for statements that are prepared: filled anew before each run.

A prepared statement keeps the object that it was told to read. So that is a C stream of the Arrow C stream interface
at an address that stays, into which the stream of the next table is moved, as the interface calls it: the structure is
copied, and its source is told that it has nothing to release any more.
"""

from __future__ import annotations

import ctypes

import pyarrow as pa

_NAME = b"arrow_array_stream"  # of capsules that hold one, by the interface
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Stream(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_void_p) for name in ("get_schema", "get_next", "get_last_error", "release", "private_data")
    )


_new_capsule = ctypes.pythonapi.PyCapsule_New
_new_capsule.restype, _new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_address = ctypes.pythonapi.PyCapsule_GetPointer
_address.restype, _address.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]


class Port:
    """`capsule` is what a statement reads, once after each `fill`. The statement must not outlive it."""

    def __init__(self, rows: pa.Table) -> None:
        self._stream = _Stream()
        self.capsule: object = _new_capsule(ctypes.addressof(self._stream), _NAME, None)
        self.schema = rows.schema
        self.fill(rows)

    def fill(self, rows: pa.Table) -> None:
        """Rows of the same schema."""
        self.empty()
        given = rows.__arrow_c_stream__()
        address = _address(given, _NAME)
        ctypes.memmove(ctypes.addressof(self._stream), address, ctypes.sizeof(_Stream))
        _Stream.from_address(address).release = None

    def empty(self) -> None:
        """Let go of what nobody has read."""
        if self._stream.release:
            _CALLBACK(self._stream.release)(ctypes.addressof(self._stream))
