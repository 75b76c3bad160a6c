"""Runs a job on one machine of many: whoever comes first does it, the others go home."""

import lockc


def main() -> None:
    with lockc.Client() as client:
        try:
            with client.lock("nightly-report", timeout=0) as held:
                print(f"making the report, token {held.token}")
        except lockc.Busy:
            print("another machine makes the report")


if __name__ == "__main__":
    main()
