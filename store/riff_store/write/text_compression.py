"""Compress transcripts by a dictionary that is trained on the first ones that a store gets."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from itertools import islice

import zstandard

from riff_store.engines.engine import Connection
from riff_store.transcript_columns import LEVEL, compressor, is_spelled, read_text
from riff_store.transcripts import LARGEST, LARGEST_DICTIONARY, unpack_transcript

SAMPLES = 500
"""Transcripts that a dictionary is trained on; a store with fewer does without."""
LARGEST_SAMPLE = 16 * 1024
DICTIONARY_BYTES = 64 * 1024
_SEGMENT, _DMER = 1024, 8
"""Parameters of the training, told so that it need not look for the best ones."""

_NEWEST = f"SELECT conversation_id FROM transcript ORDER BY conversation_id DESC LIMIT {2 * SAMPLES}"
_ENOUGH = f"SELECT COUNT(*) FROM (SELECT 1 FROM transcript LIMIT {SAMPLES}) AS kept"
_CHANGE = "UPDATE transcript SET body = ?, dictionary_id = ? WHERE conversation_id = ?"


_KEPT = (
    "SELECT t.body, d.body FROM transcript t LEFT JOIN text_dictionary d ON d.id = t.dictionary_id"
    " WHERE t.conversation_id = ?"
)


def _words(text: bytes) -> list[tuple[object, object]]:
    return [(turn["role"], turn["text"]) for turn in read_text(text).get("turns", ())]


class TextCompressor:
    """Compress transcripts by the latest dictionary of a store; `forget` when another process may have written."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._plain = zstandard.ZstdCompressor(level=LEVEL, write_checksum=False)
        self._engine = self._plain
        self._key: int | None = None
        self._dictionary: bytes | None = None
        self._is_known = False
        self._cannot_learn = False
        self._given: bytes | None = None
        self._is_given = False

    def forget(self) -> None:
        """Look for the latest dictionary of the store again before it is used next."""
        self._key, self._engine, self._dictionary = None, self._plain, None
        self._is_known = self._is_given = False

    def give(self) -> bytes | None:
        """Return the dictionary by which other processes may compress texts, one for all time; `None` without one."""
        if self._given is None:
            if not self._is_known:
                self._look()
            self._given, self._is_given = self._dictionary, self._key is not None
        return self._given

    def compress(self, text: bytes, is_compressed: bool = False) -> tuple[bytes, int | None]:
        """Return the compressed text, and the dictionary that it is read with; it may be by the one given already."""
        if not self._is_known:
            self._look()
        if is_compressed and self._is_given:
            return text, self._key
        return self._engine.compress(self._plain_text(text, is_compressed)), self._key

    def _plain_text(self, text: bytes, is_compressed: bool) -> bytes:
        if not is_compressed or self._given is None:
            return text
        return unpack_transcript(text, dictionary=zstandard.ZstdCompressionDict(self._given))

    def is_kept(self, call: int, text: bytes, is_compressed: bool = False) -> bool:
        """Return whether the words of a text are those that are kept of a call."""
        row = self._connection.execute(_KEPT, (call,)).fetchone()
        body, dictionary = row or (None, None)
        if not isinstance(body, bytes):
            return False
        known = zstandard.ZstdCompressionDict(dictionary) if isinstance(dictionary, bytes) else None
        try:
            return _words(unpack_transcript(body, dictionary=known)) == _words(self._plain_text(text, is_compressed))
        except (ValueError, RecursionError):
            return False

    def learn(self) -> None:
        """Train a dictionary once there are transcripts enough, and compress these by it."""
        if not self._is_known:
            self._look()
        if self._key is None and not self._cannot_learn:
            self._train()

    def renew(self, report: Callable[[int, int], None]) -> None:
        """Compress every transcript by a dictionary that is trained on those there are now, and drop all others.

        `report` is shown how many are done, and of how many.
        """
        of_older = "SELECT conversation_id FROM transcript WHERE dictionary_id IS NOT NULL ORDER BY conversation_id"
        calls = [call for (call,) in self._connection.execute(of_older).fetchall()]
        if not calls:
            return
        self.forget()
        self._is_known = True
        for done, call in enumerate(calls):
            body, dictionary = self._connection.execute(_KEPT, (call,)).fetchone()
            with suppress(ValueError, zstandard.ZstdError):
                known = zstandard.ZstdCompressionDict(dictionary)
                plain = self._plain.compress(unpack_transcript(body, dictionary=known))
                self._connection.execute(_CHANGE, (plain, None, call))
            if done % SAMPLES == 0:
                report(done, 2 * len(calls))
        used = "SELECT dictionary_id FROM transcript WHERE dictionary_id IS NOT NULL"
        self._connection.execute(f"DELETE FROM text_dictionary WHERE id NOT IN ({used})")
        self._train()
        if self._key is not None:
            for done, call in enumerate(calls, len(calls)):
                self._compress_again(call)
                if done % SAMPLES == 0:
                    report(done, 2 * len(calls))

    def _look(self) -> None:
        query = "SELECT id, body FROM text_dictionary ORDER BY id DESC LIMIT 1"
        for key, body in self._connection.execute(query).fetchall():
            if isinstance(body, bytes) and 0 < len(body) <= LARGEST_DICTIONARY:
                self._use(key, body)
        self._is_known = True

    def _train(self) -> None:
        if self._connection.execute(_ENOUGH).fetchone()[0] < SAMPLES:
            return
        calls = [call for (call,) in self._connection.execute(_NEWEST).fetchall()]
        samples = list(islice(filter(is_spelled, map(self._start_of, calls)), SAMPLES))
        if len(samples) < SAMPLES:
            return
        try:
            dictionary = zstandard.train_dictionary(DICTIONARY_BYTES, [*samples], k=_SEGMENT, d=_DMER)
        except zstandard.ZstdError:  # they have too little in common
            self._cannot_learn = True
            return
        insert = "INSERT INTO text_dictionary (body) VALUES (?) RETURNING id"
        key = int(self._connection.execute(insert, (dictionary.as_bytes(),)).fetchone()[0])
        self._use(key, dictionary.as_bytes())
        for call in calls:
            self._compress_again(call)

    def _body(self, call: int) -> bytes:
        body = self._connection.execute("SELECT body FROM transcript WHERE conversation_id = ?", (call,)).fetchone()[0]
        return body if isinstance(body, bytes) else b""

    def _start_of(self, call: int) -> bytes:
        """Return the beginning of a kept text, of which there may be more than fits into memory with others."""
        try:
            with zstandard.ZstdDecompressor(max_window_size=LARGEST).stream_reader(self._body(call)) as reader:
                return reader.read(LARGEST_SAMPLE)
        except (zstandard.ZstdError, MemoryError):
            return b""

    def _compress_again(self, call: int) -> None:
        try:
            text = unpack_transcript(self._body(call))
        except ValueError:
            return
        if is_spelled(text):
            self._connection.execute(_CHANGE, (*self.compress(text), call))

    def _use(self, key: int, dictionary: bytes) -> None:
        with suppress(zstandard.ZstdError):  # what a store from anywhere calls a dictionary may be none
            self._engine = compressor(dictionary)
            self._key, self._dictionary, self._is_given = key, dictionary, dictionary == self._given
