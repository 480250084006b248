"""Two machine instructions that Numba does not name: counting bits, and asking for memory ahead of its use."""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import PLAIN_PYTHON

if PLAIN_PYTHON:

    def popcount(x: int) -> int:
        """How many bits of a number that is not negative are set."""
        return int(x).bit_count()

    def lowest_bit(x: int) -> int:
        """The place of the lowest bit set; ``x`` is not 0."""
        return (int(x) & -int(x)).bit_length() - 1

    def highest_bit(x: int) -> int:
        """The place of the highest bit set; ``x`` is not 0."""
        return int(x).bit_length() - 1

    def prefetch(array: np.ndarray, i: int) -> None:
        """Ask for the memory of ``array[i]``; changes nothing."""

else:
    from llvmlite import ir
    from numba import types
    from numba.core import cgutils
    from numba.extending import intrinsic

    @intrinsic
    def popcount(context: Any, x: Any) -> Any:
        """How many bits are set."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.ctpop(arguments[0])

        return types.int64(types.int64), generate

    @intrinsic
    def lowest_bit(context: Any, x: Any) -> Any:
        """The place of the lowest bit set; ``x`` is not 0."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

        return types.int64(types.int64), generate

    @intrinsic
    def highest_bit(context: Any, x: Any) -> Any:
        """The place of the highest bit set; ``x`` is not 0."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            zeros = builder.ctlz(arguments[0], ir.Constant(ir.IntType(1), 1))
            return builder.sub(ir.Constant(ir.IntType(64), 63), zeros)

        return types.int64(types.int64), generate

    @intrinsic
    def prefetch(context: Any, array: Any, i: Any) -> Any:
        """Ask for the memory of ``array[i]`` (one dimension); changes nothing."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            made = cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0])
            place = builder.bitcast(builder.gep(made.data, [arguments[1]]), ir.IntType(8).as_pointer())
            word = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), [ir.IntType(8).as_pointer(), word, word, word])
            function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
            builder.call(function, [place, word(0), word(3), word(1)])
            return context.get_dummy_value()

        return types.none(array, types.int64), generate
