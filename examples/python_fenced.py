"""Writes with a fencing token: the store refuses a holder that was overtaken."""

import lockc


class Store:
    """Stands for anything that can compare a number and write in one step."""

    def __init__(self) -> None:
        self.value = ""
        self.token = 0

    def write(self, value: str, token: int) -> None:
        if token < self.token:
            raise PermissionError(f"token {token} is older than {self.token}")
        self.value, self.token = value, token


def main() -> None:
    store = Store()
    with lockc.Client() as client:
        slow = client.lock("document", ttl=0.05)
        slow.acquire()
        held = slow.held
        assert held is not None
        held.lost.wait()  # it sleeps for too long, as a paused process does

        with client.lock("document") as next_held:
            store.write("of the second holder", next_held.token)

        try:
            store.write("of the first holder", held.token)
        except PermissionError as error:
            print("refused:", error)
        slow.release()
    print("the document is", store.value)


if __name__ == "__main__":
    main()
