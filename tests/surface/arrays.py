"""Name what tests use of riff_store that loads numpy, apart, so that a test can say what does not."""

from __future__ import annotations

from riff_store.arrays import blocks as arrays_blocks
from riff_store.arrays import grouping
from riff_store.arrays import sums as arrays_sums
from riff_store.arrays.blocks import blocks as blocks_blocks
from riff_store.arrays.encoding import MOST_ROWS, UNSCORED, decode, decode_keys, encode, is_unscored, joined
from riff_store.arrays.grouping import Cells, count, numbered
from riff_store.arrays.masks import Masks
from riff_store.arrays.ordering import SortedCalls
from riff_store.arrays.reading import CallReader, read_calls
