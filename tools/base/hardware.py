# SPDX-License-Identifier: GPL-2.0
"""What figures depend on besides code: kernels, compiler, processors, caches, clock, other work.

Nothing of it names a machine, a user or a network.
"""

import datetime
import json
import os
from pathlib import Path
import platform
import re
import sys

from base.common import commit, cores, output_of
from base.testbeds import SIMULATED

FORMAT = 1			# of results
SYS = Path("/sys/devices/system")
# Of lscpu's fields, by the names that results have.
FIELDS = {
    "architecture": "Architecture", "vendor": "Vendor ID", "family": "CPU family",
    "model": "Model", "stepping": "Stepping", "max_mhz": "CPU max MHz",
    "cpus": "CPU(s)", "threads_per_core": "Thread(s) per core",
    "cores_per_socket": "Core(s) per socket", "sockets": "Socket(s)",
    "numa_nodes": "NUMA node(s)", "l1d": "L1d cache", "l2": "L2 cache", "l3": "L3 cache",
    "hypervisor": "Hypervisor vendor", "virtualization": "Virtualization type",
}
FILES = {
    "clocksource": SYS / "clocksource/clocksource0/current_clocksource",
    "governor": SYS / "cpu/cpu0/cpufreq/scaling_governor",
    "smt": SYS / "cpu/smt/control",
}
RELEASE = Path("/etc/os-release")


def fields_of(entries):
    """lscpu's fields with those below them: {name: text}."""
    found = {}
    for entry in entries:
        found[entry["field"].rstrip(":")] = entry["data"]
        found.update(fields_of(entry.get("children", [])))
    return found


def processors(text):
    """What lscpu --json has printed, by our names; {} if that is nothing."""
    try:
        found = fields_of(json.loads(text or "")["lscpu"])
    except (ValueError, KeyError, TypeError):
        return {}
    return {name: found[field] for name, field in FIELDS.items() if found.get(field)}


def first_line(path):
    try:
        return path.read_text(encoding="utf-8").split("\n")[0].strip()
    except OSError:
        return ""


def distribution(text):
    """Its name and release, of /etc/os-release."""
    pairs = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    return " ".join(pairs[key].strip('"') for key in ("ID", "VERSION_ID") if key in pairs)


def hardware():
    found = processors(output_of(["lscpu", "--json"]))
    found.update({name: first_line(path) for name, path in FILES.items() if first_line(path)})
    found["load_average"] = round(os.getloadavg()[0], 2)
    try:
        found["distribution"] = distribution(RELEASE.read_text(encoding="utf-8"))
    except OSError:
        pass
    return found


def first_match(path, pattern):
    try:
        text = Path(path).read_text()
    except OSError:
        return ""
    found = re.search(pattern, text, re.MULTILINE)
    return found[1].strip() if found else ""


def released(kernel):
    """A kernel's version without the name of the build."""
    return (re.match(r"[\d.]*\d", kernel or "") or [""])[0]


def machine(kernels, quick=False):
    """What the results depend on besides the plan; kernels: {testbed: version}.

    The simulation has no kernel; what stands for one is apart.
    """
    kernels = dict(kernels)
    simulated = kernels.pop(SIMULATED, None)
    compiler = (output_of(["gcc", "--version"]) or "").splitlines()
    memory = first_match("/proc/meminfo", r"^MemTotal:\s*(\d+) kB")
    now = datetime.datetime.now(datetime.timezone.utc)
    return {"format": FORMAT, "kernel": ", ".join(dict.fromkeys(kernels.values())),
            "testbed": ", ".join(kernels), "kernels": kernels, "simulated": simulated,
            "cpu_model": first_match("/proc/cpuinfo", r"^model name\s*:(.*)$") or
            platform.machine(),
            "cores": cores(), "memory_mb": int(memory or 0) // 1024,
            "host_kernel": platform.release(),
            "compiler": compiler[0] if compiler else "", "commit": commit(),
            "date": f"{now:%Y-%m-%dT%H:%M:%SZ}",
            "command": " ".join([Path(sys.argv[0]).name, *sys.argv[1:]]), "quick": quick,
            "hardware": hardware()}
