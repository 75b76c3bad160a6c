"""An installed lockc, as other people's programs find and use it: by pkg-config, and by CMake."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONSUMER = Path(__file__).parent / "consumer"
sys.path.insert(0, str(ROOT / "tests/support"))

from redis_server import RedisServer  # noqa: E402

PREFIX = "/opt/lockc"
SOURCES = {"C": "consumer.c", "CXX": "consumer.cc"}
COMPILERS = {"C": "cc", "CXX": "c++"}


def run(*command: str | Path, **variables: str) -> str:
    """The output of a command that must succeed."""
    done = subprocess.run(
        command, env={**os.environ, **variables}, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def pkg_config(installed: Path, *arguments: str) -> list[str]:
    folder = installed / "lib/pkgconfig"
    return run("pkg-config", *arguments, "lockc", PKG_CONFIG_PATH=str(folder)).split()


def needed_libraries(program: Path) -> str:
    return run("readelf", "--dynamic", program)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The prefix of an installation, moved from where it was made for by DESTDIR."""
    stage = tmp_path_factory.mktemp("stage")
    run("make", "-C", ROOT, "install", f"PREFIX={PREFIX}", f"DESTDIR={stage}")
    return stage / PREFIX.lstrip("/")


@pytest.fixture(scope="module")
def archive_only(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation without the shared library."""
    prefix = tmp_path_factory.mktemp("static") / "lockc"
    run("cp", "-a", installed, prefix)
    for library in (prefix / "lib").glob("liblockc.so*"):
        library.unlink()
    return prefix


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with RedisServer() as server:
        yield server.url


def assert_takes_the_lock(program: Path, url: str, installed: Path) -> None:
    printed = run(program, LOCKC_URL=url, LD_LIBRARY_PATH=str(installed / "lib"))
    assert printed.startswith("version 000100, token ")


def test_install_puts_everything_in_its_place(installed: Path) -> None:
    files = {str(path.relative_to(installed)) for path in installed.rglob("*") if path.is_file()}
    assert {
        "bin/lockc",
        "include/lockc/lockc.h",
        "include/lockc/lockc.hpp",
        "lib/liblockc.a",
        "lib/liblockc.so",
        "lib/liblockc.so.0.1",
        "lib/pkgconfig/lockc.pc",
        "lib/cmake/lockc/lockcConfig.cmake",
        "lib/cmake/lockc/lockcConfigVersion.cmake",
        "share/bash-completion/completions/lockc",
        "share/zsh/site-functions/_lockc",
    } <= files


def test_installed_headers_are_those_of_the_tree(installed: Path) -> None:
    headers = {path.name for path in (ROOT / "capi/include/lockc").iterdir()}
    assert {path.name for path in (installed / "include/lockc").iterdir()} == headers


def test_installed_files_do_not_name_the_tree(installed: Path) -> None:
    for path in [*installed.rglob("*.pc"), *installed.rglob("*.cmake"), installed / "bin/lockc"]:
        assert str(ROOT).encode() not in path.read_bytes(), path


def test_installed_command_tells_the_version(installed: Path) -> None:
    assert "0.1.0" in run(installed / "bin/lockc", "--version")


def test_pkg_config_tells_the_version_of_the_header(installed: Path) -> None:
    assert pkg_config(installed, "--modversion") == ["0.1.0"]


@pytest.mark.parametrize("language", ["C", "CXX"])
def test_consumer_by_pkg_config(language: str, installed: Path, url: str, tmp_path: Path) -> None:
    program = tmp_path / "consumer"
    flags = pkg_config(installed, "--cflags", "--libs")
    run(COMPILERS[language], CONSUMER / SOURCES[language], "-o", program, *flags)
    assert "liblockc.so.0.1]" in needed_libraries(program)
    assert_takes_the_lock(program, url, installed)


@pytest.mark.parametrize("language", ["C", "CXX"])
def test_consumer_by_pkg_config_static(
    language: str, archive_only: Path, url: str, tmp_path: Path
) -> None:
    program = tmp_path / "consumer"
    flags = pkg_config(archive_only, "--static", "--cflags", "--libs")
    run(COMPILERS[language], CONSUMER / SOURCES[language], "-o", program, *flags)
    assert "liblockc" not in needed_libraries(program)
    assert_takes_the_lock(program, url, archive_only)


@pytest.mark.parametrize("target", ["lockc::lockc", "lockc::lockc_static"])
@pytest.mark.parametrize("language", ["C", "CXX"])
def test_consumer_by_cmake(
    language: str, target: str, installed: Path, url: str, tmp_path: Path
) -> None:
    build = tmp_path / "build"
    options = (f"-DLANGUAGE={language}", f"-DTARGET={target}", f"-DCMAKE_PREFIX_PATH={installed}")
    run("cmake", "-S", CONSUMER, "-B", build, *options)
    run("cmake", "--build", build)
    shared = "liblockc.so.0.1]" in needed_libraries(build / "consumer")
    assert shared == (target == "lockc::lockc")
    assert_takes_the_lock(build / "consumer", url, installed)


def test_archive_keeps_its_hiredis_to_itself(archive_only: Path, url: str, tmp_path: Path) -> None:
    program = tmp_path / "two_hiredis"
    flags = pkg_config(archive_only, "--static", "--cflags", "--libs")
    run("cc", CONSUMER / "two_hiredis.c", "-o", program, *flags)
    assert run(program, LOCKC_URL=url) == "OK\n"


def test_pkg_config_of_the_build_folder_needs_no_loader_path(url: str, tmp_path: Path) -> None:
    program = tmp_path / "consumer"
    flags = run(
        "pkg-config", "--cflags", "--libs", "lockc", PKG_CONFIG_PATH=str(ROOT / "build/pkgconfig")
    ).split()
    run("cc", CONSUMER / "consumer.c", "-o", program, *flags)
    assert run(program, LOCKC_URL=url).startswith("version 000100, token ")
