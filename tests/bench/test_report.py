"""What is told of a run: lines, JSON, the page."""

from pathlib import Path

import pytest
import report
import run
from harness.plan import Target, Workload, read_targets
from harness.report import Result, write_json
from harness.results import Results

NOTHING = {"foreign_cpu": 0.0, "acquisitions": 10, "overlaps": 0}


def target(name: str, **more: object) -> Target:
    return Target(name, [name], frozenset(), {}, **more)


def workload(name: str = "pair") -> Workload:
    return Workload(
        name, "latency", "p50_us", {"ratio": "limit"}, ["p50_us"], ["limit", "mine"], {}
    )


def result(name: str = "pair", *others: Target) -> Result:
    made = Result(workload(name), {t.name: t for t in (target("limit"), target("mine"), *others)})
    for each, times in {"limit": (10, 20, 30), "mine": (20, 10, 60)}.items():
        made.rounds[each] = [{**NOTHING, "p50_us": time} for time in times]
    return made


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "full.json"


ABOUT = dict.fromkeys(("date", "cpu", "cores", "kernel", "server"), "x")


def test_a_ratio_is_the_median_of_those_within_each_round() -> None:
    assert "bench: pair.mine.ratio 2" in result().lines()


def test_what_is_unavailable_is_named_with_its_reason_and_fails_nothing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    gone = target("gone", rival=True, unavailable="404 not found")
    assert run.conclude([result("pair", gone)], 1.0) == 0
    assert "bench: unavailable gone: 404 not found" in capsys.readouterr().out


@pytest.mark.parametrize(("rival", "status"), [(False, 1), (True, 0)])
def test_only_a_target_of_its_own_that_can_not_be_measured_fails_the_run(
    rival: bool, status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    made = result("pair", target("broken", rival=rival))
    made.missing["broken"] = "does not end"
    assert run.conclude([made], 1.0) == status
    assert "bench: not measured pair.broken: does not end" in capsys.readouterr().out


@pytest.mark.parametrize(("rival", "status"), [(False, 1), (True, 0)])
def test_only_overlaps_of_its_own_fail_the_run(rival: bool, status: int) -> None:
    made = result("pair", target("loose", rival=rival))
    made.rounds["loose"] = [{**NOTHING, "p50_us": 1, "overlaps": 1}] * 3
    assert run.conclude([made], 1.0) == status


def test_rivals_that_nobody_set_up_are_unavailable(tmp_path: Path) -> None:
    rivals = run.BENCH / "rivals/targets.json"
    places = {name: "x" for name in ("bench", "build", "library", "python", "acquire", "release")}
    found = read_targets([run.BENCH / "targets.json", rivals], {**places, "rivals": str(tmp_path)})
    assert found["redis-py"].unavailable.startswith("not set up")
    assert not found["lockc-c"].unavailable


def test_a_file_that_is_kept_has_the_newest_of_each_workload(file: Path) -> None:
    write_json(file, ABOUT, [result("pair"), result("queue")])
    newer = result("queue")
    newer.rounds["mine"] = [{**NOTHING, "p50_us": 1}] * 3
    write_json(file, ABOUT, [newer], keep=True)
    results = Results(file)
    assert results.summary("pair", "mine", "p50_us").median == 20
    assert results.summary("queue", "mine", "p50_us").median == 1


def test_a_figure_without_end_is_null_in_the_file_and_endless_again_when_read(file: Path) -> None:
    made = result()
    made.rounds["mine"] = [{**NOTHING, "p50_us": float("inf")}] * 3
    write_json(file, ABOUT, [made])
    assert "Infinity" not in file.read_text()
    assert Results(file).summary("pair", "mine", "p50_us").median == float("inf")


def test_the_report_replaces_what_is_between_its_marks(file: Path, tmp_path: Path) -> None:
    write_json(file, ABOUT, [result("pair", target("gone", rival=True, unavailable="no java"))])
    page = tmp_path / "page.md"
    page.write_text(f"above\n{report.BEGIN}last year\n{report.END}below\n")
    report.put(report.report(Results(file)), page)
    text = page.read_text()
    assert text.startswith("above\n")
    assert text.endswith("below\n")
    assert "last year" not in text
    assert "- `gone`: unavailable: no java" in text
