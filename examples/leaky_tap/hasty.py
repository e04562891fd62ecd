"""Answer the phone of the same plumber, quickly: every visit is booked, and two new things are wrong, on purpose."""

from __future__ import annotations

from agent import STEPS, take_call
from fixed import Fixed


class Hasty(Fixed):
    """Ask for no phone number, and write down the last digits of one backwards."""

    steps = STEPS | {"call_back": ((), "")}

    def note(self, slot: str, value: str) -> None:
        """Note the value of a slot."""
        super().note(slot, value[:-4] + value[:-5:-1] if slot == "phone" else value)


if __name__ == "__main__":
    take_call(Hasty())
