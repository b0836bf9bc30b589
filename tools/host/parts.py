# SPDX-License-Identifier: GPL-2.0
"""What is run for a verification, and where its results are kept."""

from dataclasses import dataclass
import json
import subprocess
import time

from base.common import BUILD, PROJECT, Failure

FOLDER = BUILD / "verification"
# The exit status of a tool that lacks what it needs. Its results say what.
NOT_RUN = 77


@dataclass(frozen=True)
class Part:
    """A tool that writes its results as JSON."""
    name: str
    command: tuple
    meaning: str
    purpose: str = "verify"		# of tools/setup's
    resumes: bool = False		# knows --resume
    minutes: int = 1			# that it takes on 2 cores
    makes: tuple = ()			# of tools/setup, too

    @property
    def results(self):
        return FOLDER / f"{self.name}.json"

    @property
    def seconds(self):
        return FOLDER / f"{self.name}.seconds"

    def run(self, resume=False):
        """False: something is wrong with the locks. The tool says what."""
        FOLDER.mkdir(parents=True, exist_ok=True)
        old = self.results.stat().st_mtime_ns if self.results.exists() else None
        started = time.monotonic()
        tool, *options = self.command
        if resume and self.resumes:
            options.append("--resume")
        done = subprocess.run([PROJECT / tool, *options, "--json", self.results],
                              stdin=subprocess.DEVNULL, check=False)
        self.seconds.write_text(f"{time.monotonic() - started:.0f}\n")
        if done.returncode not in (0, 1, NOT_RUN) or not self.results.exists() or \
                self.results.stat().st_mtime_ns == old:
            raise Failure(f"{self.name}: {tool} ended with status {done.returncode}")
        return done.returncode != 1

    def read(self):
        """(what it has found, seconds that it took); (None, None): it was not run."""
        try:
            return json.loads(self.results.read_text()), int(self.seconds.read_text())
        except OSError:
            return None, None


# In the order of the report.
PARTS = {part.name: part for part in (
    Part("explorer", ("tools/host/explore/explore", "--all"),
         "all schedules of small configurations", resumes=True, minutes=155),
    Part("litmus", ("tools/host/litmus/run",), "memory ordering under the kernel's model",
         makes=("verify",)),
    Part("weak-memory", ("tools/host/weak_memory/run",),
         "whole acquisitions under weak memory, where there is a GenMC", minutes=70),
    Part("mixtures", ("tools/host/programs/run", "mixtures", "all", "gcc", "plain",
                      "--minutes", "60"), "random schedules over all lock types, for an hour",
         minutes=60),
    Part("mutants", ("tools/host/mutate/mutate",),
         "small mistakes by rule: which tests notice them?", "mutate", True, minutes=210,
         makes=("mutate",)))}

# What `make verify` runs; `make mutate` makes the mutants.
VERIFIED = ("explorer", "litmus", "weak-memory", "mixtures")
