"""What runs for the length of a `with`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Self


class Running:
    """Runs from its making or start() to close(); one that cannot start is closed at once."""

    def start(self) -> Self:
        return self

    def close(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(self, *outcome: object) -> None:
        self.close()
