"""Writes with a fencing token: the record refuses a holder that was overtaken."""

import lockc


def main() -> None:
    with lockc.Client() as client:
        slow = client.lock("document", ttl=1)
        slow.acquire()
        held = slow.held
        assert held is not None
        held.lost.wait()  # it sleeps for too long, as a paused process does

        with client.lock("document") as next_held:
            client.write("document:text", b"of the second holder", token=next_held.token)

        try:
            client.write("document:text", b"of the first holder", token=held.token)
        except lockc.Stale as error:
            print("refused:", error)
        slow.release()
        print("the document is", client.read("document:text").value.decode())


if __name__ == "__main__":
    main()
