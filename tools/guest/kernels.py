# SPDX-License-Identifier: GPL-2.0
"""Kernels to load the modules into: built (user-mode Linux) or Debian's own."""

from pathlib import Path
import platform
import re
import shutil

from base.building import (cache_folder, cached, compiled_files, compiler_environment,
                           compiler_for_make, compiler_identity, digest, is_sealed, run_logged)
from base.common import PROJECT, Failure, Unavailable, cores, say
from guest.debian import apt_offering, natural, own_suites, security_suites, suites_of_main_archive
from guest.kbuild import mend_programs, options_to_take_back, same_pahole
from guest.source import get_source, source_version


def made_row(sign, what, minutes=0, download=0, megabytes=1):
    """For setup(): what will be made, unless the cache has the file."""
    return f"{sign}|{download}|{megabytes}|{minutes}|{what}"


SETTING = re.compile(r"(?:# )?(CONFIG_\w+)[ =]")


def copy_name(changes):
    """The folder in the cache of copies with these changes (kernel_copy.py)."""
    return "-".join(("copy", *(Path(change).name for change in changes)))


class Recipe:
    """How a kernel is built from source.

    The configuration is allnoconfig with the settings in tools/guest/config/NAME.config, or in
    the file of the project that has the name, of all the names; each must come through. Of two
    for the same the later counts.
    """

    minutes = 6			# of a CPU, that it takes to build
    megabytes = 140			# on the disk

    def __init__(self, folder, arch, image, *configs, tools="", compiler="gcc",
                 words=(), target="all"):
        self.folder = folder		# below the cache
        self.arch = arch		# in the kernel's own terms
        self.image = image		# in the folder of the build
        self.configs = [PROJECT / (name if "/" in name else f"tools/guest/config/{name}.config")
                        for name in configs]
        self.compiler = (tools, compiler)	# prefix of a cross compiler's tools; a program
        self.words = words		# what it is always booted with
        self.target = target		# of make; without symbols of modules, if not all is made

    def row(self, place=None):
        """For setup(): the kernel, to be built if the cache does not have it."""
        return made_row(place or f"{self.folder}/{source_version()}-*/.sealed",
                        f"the kernel \"{self.folder}\"", self.minutes, megabytes=self.megabytes)

    def row_of_copy(self, *changes):
        """The same of a copy of the tree (kernel_copy.py)."""
        return self.row(f"{copy_name(changes)}/{source_version()}-*/obj/"
                        f"{self.folder}-????????????/.whole")

    @property
    def options(self):
        return [f"ARCH={self.arch}", *compiler_for_make(*self.compiler)]

    @property
    def settings(self):
        lines = {}
        for config in self.configs:
            for line in config.read_text().splitlines():
                setting = SETTING.match(line)
                if setting:
                    lines[setting[1]] = line
        return "".join(f"{line}\n" for line in lines.values())

    @property
    def key(self):
        """What tells its kernel from others of one source."""
        return (self.settings, compiler_identity(*self.compiler), self.options,
                *[self.target] * (self.target != "all"))

    def write_configuration(self, make, build_dir, log):
        """Make .config of the settings. make: its words so far."""
        settings = build_dir / "settings.config"
        settings.write_text(self.settings)
        run_logged([*make, f"KCONFIG_ALLCONFIG={settings}", "allnoconfig"], log,
                   "configuring the kernel", env=compiler_environment())


X86_64 = "x86_64"
GUEST = Recipe("guest", "um", "linux", "guest")
# Without slab_debug the allocator keeps pointers to the last 60 objects of a size that
# it has given away, and kmemleak would not call them lost.
DEBUG = Recipe("debug", "um", "linux", "guest", "debug", words=("slab_debug=F",))
# Where the suites look for mutants.
MUTANTS = Recipe("mutants", "um", "linux", "guest", "mutants")
# Traces events, which costs its locks a test each.
TRACE = Recipe("trace", "um", "linux", "guest", "trace")
KCSAN = Recipe("kcsan", X86_64, "arch/x86/boot/bzImage", "qemu", "x86_64", "kcsan")
RT = Recipe("rt", X86_64, "arch/x86/boot/bzImage", "qemu", "x86_64", "rt")
# The oldest clang of Debian's that the newest kernels take.
CLANG = Recipe("clang", "um", "linux", "guest", "clang", compiler="clang-19")
# BPF, whose maps have a spinlock of their own.
BPF = Recipe("bpf", X86_64, "arch/x86/boot/bzImage", "qemu", "x86_64", "bpf")
ARM64_TOOLS = "" if platform.machine() == "aarch64" else "aarch64-linux-gnu-"
ARM64 = Recipe("arm64", "arm64", "arch/arm64/boot/Image", "qemu", "arm64", tools=ARM64_TOOLS)
BPF.minutes, BPF.megabytes = 10, 1000
RISCV64_TOOLS = "" if platform.machine() == "riscv64" else "riscv64-linux-gnu-"
RISCV64 = Recipe("riscv64", "riscv", "arch/riscv/boot/Image", "qemu", "riscv64",
                 tools=RISCV64_TOOLS)
# Modules are built for it, and their objects read; it is not linked. With lockdep the kernel's own
# spinlock is no inline function.
RISCV64_PLAIN = Recipe("riscv64-headers", "riscv", "include/generated/autoconf.h", "qemu",
                       "riscv64", "plain", tools=RISCV64_TOOLS, target="modules_prepare")
I386 = Recipe("i386", "i386", "arch/x86/boot/bzImage", "qemu", "x86_64", "i386")


class Kernel:
    """A kernel that modules can be built for and that can be booted."""

    def __init__(self, name, version, build_dir, image, make_options, identity, source=None,
                 words=(), lock=None):
        self.name = name		# a word: names the folder under build/
        self.version = version
        self.build_dir = Path(build_dir)
        self.image = Path(image)
        self.make_options = make_options
        self.identity = identity	# changes when the modules must be rebuilt
        self.source = source
        self.words = words		# what it is always booted with
        self.lock = lock		# a file: while it is held, the source stays


# Built from source

def require_um_host():
    if platform.machine() != X86_64:
        raise Unavailable("user-mode Linux with SMP runs on x86-64 only, and "
                          f"this machine is {platform.machine()}")


def require_host(recipe):
    """Some kernels can be built on some machines only."""
    if recipe.arch == "um":
        require_um_host()
    elif recipe.arch in (X86_64, "i386") and platform.machine() != X86_64:
        raise Unavailable("no cross compiler for x86 is known here, and this "
                          f"machine is {platform.machine()}")


def user_mode_kernel():
    """The guest kernel, built if the cache does not have it."""
    return built_kernel(GUEST)


def built_kernel(recipe):
    """The kernel of a recipe, built if the cache does not have it."""
    require_host(recipe)
    source = get_source()
    key = digest(source.version, source.identity, *recipe.key)
    folder = cache_folder(recipe.folder) / f"{source.version}-{key}"

    def build(build_dir):
        announce(recipe, source)
        make_all(recipe, source.path, build_dir, folder.with_suffix(".log"))
        return [recipe.image, ".config", *["Module.symvers"] * (recipe.target == "all")]

    cached(folder, build)
    name = "uml" if recipe is GUEST else recipe.folder
    return Kernel(f"{name}-{source.version}", source.version, folder, folder / recipe.image,
                  recipe.options, key, source.path, recipe.words)


def announce(recipe, source):
    what, takes = ("building", f"{recipe.minutes} CPU-minutes") if recipe.target == "all" else \
        ("preparing", "40 CPU-seconds")
    say(f"{what} the kernel \"{recipe.folder}\", Linux {source.version} (about {takes}; {cores()} "
        "CPUs here)")


def make_all(recipe, tree, build_dir, log):
    """One run of make. What is left of one that was killed is not trusted."""
    log.unlink(missing_ok=True)
    make = ["make", "-C", tree, f"O={build_dir}", *recipe.options]
    configure(recipe, make, build_dir, log)
    status = run_logged([*make, f"-j{cores() + 1}", recipe.target], log, "building the kernel",
                        progress=compiled_files(log), env=compiler_environment(), check=False)
    (build_dir / ".whole").touch()
    if status:
        raise Failure(f"building the kernel \"{recipe.folder}\" failed; log: {log}\n"
                      f"{errors_in(log)}")


def errors_in(log):
    """The compiler's errors, or the last lines."""
    lines = Path(log).read_text(errors="replace").splitlines()
    wrong = [line for line in lines if "error:" in line or "undefined reference" in line]
    return "\n".join(wrong[:10] or lines[-20:])


def configure(recipe, make, build_dir, log):
    """Every setting must have come through."""
    recipe.write_configuration(make, build_dir, log)
    have = set((build_dir / ".config").read_text().splitlines())
    # What a kernel does not know it does not say that it lacks.
    lacking = [line for line in recipe.settings.splitlines()
               if line.startswith("CONFIG_") and line not in have or
               line.startswith("#") and SETTING.match(line)[1] + "=y" in have]
    if lacking:
        raise Unavailable(f"this Linux, or this compiler, does not take "
                          f"{', '.join(lacking)} for the kernel \"{recipe.folder}\"")


# Debian's own kernels

def debian_row(series):
    """For setup(): such a kernel."""
    return made_row(f"debian/{series}/*-cloud-amd64/.sealed",
                    f"Debian's Linux {series} and its headers", download=50, megabytes=150)


# What may stand between a package's version and its architecture, best first.
STOCK = ("-cloud", "")
REAL_TIME = ("-rt",)
# In place of a series: the newest of all. It is of a release that is to come.
NEWEST = "newest"


def debian_kernel(series, flavours=STOCK):
    """Debian's newest kernel of a series, with what modules need to build."""
    kept = cached_debian_kernel(series, flavours)
    if kept:
        return kept
    try:
        apt, names = apt_offering("|".join(image_pattern(series, flavour)
                                           for flavour in flavours), *suites_for(series))
        return unpacked_debian_kernel(series, apt, best_image(series, flavours, names))
    except Unavailable as reason:
        raise Unavailable(
            f"no Debian kernel of series {series}{flavours[0]}: {reason}. Give a cache "
            "filled elsewhere with NBQ_CACHE=FOLDER.") from None


def suites_for(series):
    """Where to look for a series, in order."""
    if series == NEWEST:
        return [suites_of_main_archive("trixie-backports", "forky", "sid")]
    # The older release first: modules for its kernels build with newer compilers, too, but
    # not the other way round.
    return [own_suites(),
            suites_of_main_archive("bookworm", "bookworm-updates"),
            security_suites("bookworm-security"),
            suites_of_main_archive("bookworm-backports"),
            suites_of_main_archive("trixie", "trixie-updates")]


def image_pattern(series, flavour):
    number = r"\d+\.\d+" if series == NEWEST else re.escape(series)
    return rf"linux-image-{number}\.\d+[^a-z]*(deb\d+)?{flavour}-amd64"


def best_image(series, flavours, names):
    """The newest of the best flavour that there is; nothing, if there is none."""
    for flavour in flavours:
        found = [name for name in names
                 if re.fullmatch(image_pattern(series, flavour), name)]
        if found:
            return max(found, key=natural)
    return None


def debian_folder(series):
    return cache_folder("debian") / series


def cached_debian_kernel(series, flavours):
    kept = {folder.name: folder for folder in debian_folder(series).glob("linux-image-*")
            if folder.is_dir() and is_sealed(folder)}
    image = best_image(series, flavours, kept)
    return debian_kernel_in(series, kept[image]) if image else None


def unpacked_debian_kernel(series, apt, image):
    release = image.replace("linux-image-", "", 1)
    headers = f"linux-headers-{release}"
    needs = re.findall(r"(linux-headers-\S+-common(?:-rt)?|linux-kbuild-[^\s,]+)",
                       apt.field(headers, "Depends"))
    if len(needs) < 2:
        raise Unavailable(f"{headers} does not name its common and kbuild packages")
    # Newer ones have the image proper in a package of its own.
    images = re.findall(r"linux-binary-[^\s,]+", apt.field(image, "Depends"))

    def unpack(folder):
        say(f"fetching Debian's kernel {release} and its headers (about 50 MB)")
        apt.unpack([image, *images, headers, *needs], folder)
        makefile = folder / "usr/src" / headers / "Makefile"
        mend_makefile(makefile, folder)
        mend_programs(apt, folder)
        return [image_in(folder, release).relative_to(folder), makefile.relative_to(folder),
                f"usr/src/{headers}/Module.symvers"]

    folder = cached(debian_folder(series) / image, unpack)
    return debian_kernel_in(series, folder)


def image_in(folder, release):
    return next(path for path in (folder / f"boot/vmlinuz-{release}",
                                  folder / f"usr/lib/modules/{release}/vmlinuz")
                if path.exists())


def mend_makefile(makefile, root):
    """Let an unpacked header package find its common half below root."""
    text = makefile.read_text()
    mended = re.sub(r"(^include |= *)/usr/src/", rf"\g<1>{root}/usr/src/",
                    text, flags=re.MULTILINE)
    if mended == text:
        raise Failure(f"{makefile} has a form that is not known here:\n{text}")
    makefile.write_text(mended)


def debian_kernel_in(series, folder):
    release = folder.name.replace("linux-image-", "", 1)
    build_dir = folder / "usr/src" / f"linux-headers-{release}"
    kind = "-rt" if release.endswith("-rt-amd64") else ""
    return Kernel(f"debian-{series}{kind}", release, build_dir,
                  image_in(folder, release),
                  options_for_headers(build_dir), digest(folder, release))


def options_for_headers(build_dir):
    """What a build against unpacked headers must be told."""
    # Type information would need pahole, and nothing here reads it.
    options = ["CONFIG_DEBUG_INFO_BTF_MODULES="]
    variables = build_dir / ".kernelvariables"
    text = variables.read_text() if variables.exists() else ""
    named = re.search(r"\bgcc-\d+", text)
    if named and not shutil.which(named.group(0)):
        options.append("CC=gcc")
        config = (build_dir / ".config").read_text()
        options += [*options_to_take_back(config), *same_pahole(config)]
    return options
