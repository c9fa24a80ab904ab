"""How rdma_peer parses the words of a command. The test compiles rdma_peer's own source file for this machine, with stubs of libibverbs."""

import subprocess
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[1] / "rdma_peer"
VERBS = "enum { IBV_ACCESS_LOCAL_WRITE = 1, IBV_ACCESS_REMOTE_WRITE = 2, IBV_ACCESS_REMOTE_READ = 4, IBV_ACCESS_REMOTE_ATOMIC = 8 };\n"
# Parses words of one kind, which the first argument names.
MAIN = """
#include "peer.h"
#include <stdarg.h>
#include <stdio.h>

int refuse(const char *format, ...) {
    va_list values;
    va_start(values, format);
    vprintf(format, values);
    va_end(values);
    return 0;
}

int main(int count, char **words) {
    uint64_t value = 0;
    unsigned small = 0;
    int flags = 0, done = 0;
    struct command command = {.count = count - 1};
    for (int i = 1; i < count; i++)
        command.words[i - 1] = words[i];
    switch (words[1][0]) {
    case 'n': done = number(words[2], &value); break;
    case 'w': done = number32(words[2], &value); break;
    case 'i': done = id(words[2], &small); value = small; break;
    case 'a': done = access_flags(words[2], &flags); value = (uint64_t)flags; break;
    case 'c': done = named(&command, "psn", 0xffffff, &value); break;
    }
    if (done)
        printf("%llu", (unsigned long long)value);
}
"""


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("words")
    (directory / "infiniband").mkdir()
    (directory / "infiniband/verbs.h").write_text(VERBS)
    (directory / "main.c").write_text(MAIN)
    flags = ["-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Werror", f"-I{directory}", f"-I{SOURCES}"]
    subprocess.run(["gcc", *flags, "-o", directory / "reader", directory / "main.c", SOURCES / "words.c"], check=True)
    return directory / "reader"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("number 0", "0"),
        ("number 010", "10"),
        ("number 0x10", "16"),
        ("number 18446744073709551615", "18446744073709551615"),
        ("number 18446744073709551616", "'18446744073709551616' is no number"),
        ("number 0x", "'0x' is no number"),
        ("number 0x0x1", "'0x0x1' is no number"),
        ("number 0x-1", "'0x-1' is no number"),
        ("number -1", "'-1' is no number"),
        ("number +1", "'+1' is no number"),
        ("number 12a", "'12a' is no number"),
        ("number a", "'a' is no number"),
        ("wide 0xffffffff", "4294967295"),
        ("wide 0x100000000", "'0x100000000' has more than 32 bits"),
        ("id 63", "63"),
        ("id 64", "'64' is no ID; they are below 64"),
        ("access lwra", "15"),
        ("access -", "0"),
        ("access lx", "there is no access 'x'; there are l, w, r, a"),
        ("connect 1 own_psn=2 psn=3", "3"),
        ("connect 1 own_psn=2", "'connect' needs psn="),
        ("connect 1 psn=0x1000000", "psn=0x1000000 is more than 16777215"),
    ],
)
def test_words_are_read(reader: Path, words: str, said: str) -> None:
    assert subprocess.run([reader, *words.split()], capture_output=True, text=True, check=True).stdout == said
