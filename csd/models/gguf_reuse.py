"""The package gguf, faster: results that are used again while a model loads, and a header read from a plain array.

For one model this project and transformers (5.23, for Llama and others) parse the header of its file three times, and
transformers builds one and the same table of tensor names once per module of the model.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from importlib.util import find_spec
from inspect import unwrap
from typing import Any


@contextmanager
def reuse_last(name: str) -> Iterator[None]:
    """Inside, the function or class of gguf called `name` gives its last result again for the same arguments.

    This holds for transformers as well, which looks the name up at each call. Only the last result is kept, because a
    header takes 170 MB with SmolLM2. Loads in several threads may share it or read again; the results are the same.
    """
    if find_spec("gguf") is None:  # the package is optional; `read_gguf` asks for it
        yield
        return
    import gguf

    original = unwrap(getattr(gguf, name))  # another thread may be inside already
    setattr(gguf, name, lru_cache(maxsize=1)(_over_a_plain_array(original)))
    try:
        yield
    finally:
        setattr(gguf, name, original)


def _over_a_plain_array(original: Any) -> Any:
    """gguf's reader as it is but for its array; anything else as it is.

    It makes a million slices of a header of 49,000 tokens, and each takes four times as long of a memmap.
    """
    import gguf

    if not (isinstance(original, type) and issubclass(original, gguf.gguf_reader.GGUFReader)):
        return original

    class PlainReader(original):
        @property
        def data(self) -> Any:
            return self._data

        @data.setter
        def data(self, mapped: Any) -> None:
            self._data = mapped.view(type=type(mapped).__base__)

    return PlainReader
