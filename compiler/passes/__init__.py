"""Passes are plain ``Graph -> Graph`` functions, in lists that a plugin may extend."""

from __future__ import annotations

from collections.abc import Iterable

from compiler.graph import Graph
from compiler.passes.constant_outputs import copy_constant_outputs
from compiler.passes.fold_batch_norm import fold_batch_norm
from compiler.passes.fold_clamp import fold_clamp
from compiler.passes.fold_constants import fold_constants
from compiler.passes.fold_input_scale import fold_input_scale
from compiler.passes.fold_padding import fold_padding
from compiler.passes.fuse_elementwise import fuse_elementwise
from compiler.passes.fuse_lookup import fuse_lookup
from compiler.passes.fuse_requantize import fuse_requantize
from compiler.passes.fuse_tail import fuse_tail
from compiler.passes.merge_duplicates import merge_duplicates
from compiler.passes.merge_movements import merge_movements
from compiler.passes.merge_views import merge_views
from compiler.passes.recognise_activations import recognise_activations
from compiler.passes.remove_dead_code import remove_dead_code
from compiler.passes.remove_identity import remove_identity
from compiler.passes.settle_states import settle_states
from compiler.registry import Pass

#: What every graph goes through after it is read; results stay the same.
CANONICAL: list[Pass] = [
    remove_dead_code,
    fold_constants,
    merge_duplicates,
    remove_identity,
    merge_movements,
    fold_batch_norm,
    fold_padding,
    fold_clamp,
    recognise_activations,
    fold_input_scale,
    merge_views,
    remove_identity,
    remove_dead_code,
]

#: What a quantized graph goes through before it is scheduled.
FUSION: list[Pass] = [
    fuse_requantize,
    fuse_lookup,
    fuse_elementwise,
    fuse_tail,
    settle_states,
    copy_constant_outputs,
]


def run_passes(graph: Graph, passes: Iterable[Pass]) -> Graph:
    """The graph after every pass, in order."""
    for each in passes:
        graph = each(graph)
    return graph
