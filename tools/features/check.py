"""Whether parts of the workspace are built from what `cargo test --workspace` has built: fails, and says what tools/features/Cargo.toml lacks.

It compares cargo's plans, which are an option that only nightly cargo has; RUSTC_BOOTSTRAP lets the stable one have it. Nothing is built.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field

# Only Python's package has them; hdl-macros is a procedural macro when others use it, and a library when it is built for itself.
APART = ("pyo3", "sim-python", "target-lexicon", "hdl-macros")
# Below stellar-wire, so that nothing brings them the features. They are small.
BELOW = ("stellar-features", "hdl-macros", "hdl-macros-support")
# What is beside the hardware is built without its records (driver/tests/layers.rs), and so differs by this feature on purpose.
LAYER = ("stellar-wire", {"hdl"})


def cargo(*arguments: str) -> dict:
    """Runs cargo. Returns its output, parsed as JSON."""
    environment = {**os.environ, "RUSTC_BOOTSTRAP": "1"}
    return json.loads(subprocess.run(["cargo", *arguments], env=environment, check=True, stdout=subprocess.PIPE).stdout)


def name_of(package: str) -> str:
    """The name in a package's identifier: `<source>#<name>@<version>`, or `<folder>/<name>#<version>`."""
    source, _, rest = package.rpartition("#")
    return rest.split("@")[0] if "@" in rest else source.rsplit("/", 1)[-1]


@dataclass
class Plan:
    """What a command builds."""

    units: list[dict]
    keys: dict[int, int] = field(default_factory=dict)

    def key(self, index: int) -> int:
        """What is the same for the same unit in another plan: itself, and all it depends on."""
        if index not in self.keys:
            unit = self.units[index]
            profile = sorted((name, str(value)) for name, value in unit["profile"].items() if name != "name")
            below = sorted(self.key(dependency["index"]) for dependency in unit["dependencies"])
            own = (unit["pkg_id"], unit["target"]["name"], unit["mode"], unit["platform"], tuple(unit["features"]))
            self.keys[index] = hash((own, tuple(profile), tuple(below)))
        return self.keys[index]

    def all_keys(self) -> set[int]:
        """The keys of all units."""
        return {self.key(index) for index in range(len(self.units))}


def plan(*command: str) -> Plan:
    """The plan of a command."""
    return Plan(cargo(*command, "--quiet", "-Zunstable-options", "--unit-graph")["units"])


def built_anew(part: Plan, whole: Plan, chosen: str) -> list[str]:
    """Units of `part` but the `chosen` package that `whole` has with other features, and what these are."""
    known = whole.all_keys()
    features: dict[tuple[str, str, str], list[set[str]]] = {}
    for unit in whole.units:
        features.setdefault((unit["pkg_id"], unit["target"]["name"], unit["mode"]), []).append(set(unit["features"]))
    found, others, is_layer = [], [], False
    for index, unit in enumerate(part.units):
        name = name_of(unit["pkg_id"])
        if part.key(index) in known or name.startswith(APART) or name == chosen:
            continue
        others.append(name)
        elsewhere = features.get((unit["pkg_id"], unit["target"]["name"], unit["mode"]), [])
        if set(unit["features"]) not in elsewhere:
            lacking = set().union(*elsewhere) - set(unit["features"])
            if (name, lacking) == LAYER:
                is_layer = True
                continue
            found.append(f"{name} without {', '.join(sorted(lacking)) or 'what makes it the same'}")
    return sorted(set(found)) or ([] if is_layer else sorted(set(others)))


def main() -> int:
    """Compares the tests of each package, and the programs, with the tests of all."""
    whole = plan("test", "--workspace")
    packages = [package["name"] for package in cargo("metadata", "--no-deps", "--format-version", "1")["packages"] if package["name"] not in BELOW]
    commands = [("test", "-p", name) for name in packages] + [("build", "-p", "stellar-cli"), ("build", "-p", "sim-python"), ("build", "--workspace")]
    wrong = {" ".join(command): anew for command in commands if (anew := built_anew(plan(*command), whole, command[-1]))}
    for command, anew in wrong.items():
        print(f"cargo {command} builds anew what cargo test --workspace has built: {'; '.join(anew)}")
    if wrong:
        print("add the features to tools/features/Cargo.toml")
        return 1
    print(f"{len(commands)} commands build nothing twice")
    return 0


if __name__ == "__main__":
    sys.exit(main())
