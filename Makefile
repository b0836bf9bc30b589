# SPDX-License-Identifier: GPL-2.0
# The targets for people. What becomes which module is in Kbuild.

KDIR ?= /lib/modules/$(shell uname -r)/build

# The folder $2, which $1 names. Make, the kernel's build and shells would take it apart, if there
# is more in its name than this.
fit = $(if $(call odd,$(2)),$(error $(1) "$(2)": the kernel's build does not take the name of a \
	folder with "$(call odd,$(2))" in it),$(2))
odd = $(shell printf %s '$(subst ','\'',$(1))' | tr -d 'A-Za-z0-9/._+~@%=,\200-\377-')
override KDIR := $(call fit,KDIR,$(KDIR))
override CURDIR := $(call fit,this folder,$(CURDIR))

include nbqlock.mk
KBUILD = $(MAKE) -C $(KDIR) M=$(CURDIR) $(NBQ_COMPILER)

.DEFAULT_GOAL := modules
.PHONY: modules clean run bench check check-all verify mutate docs series deb help

modules: | $(KDIR)/Makefile
	+umask 022 && $(KBUILD) modules

$(KDIR)/Makefile:
	@echo "$(KDIR) holds no kernel headers. Install those of your kernel" \
	      "(Debian: linux-headers-$$(uname -r))" >&2
	@echo "or name a built kernel: make KDIR=FOLDER" >&2
	@false

clean:
	@if [ -e $(KDIR)/Makefile ]; then $(MAKE) -C $(KDIR) M=$(CURDIR) clean; fi
	rm -rf build .checkpatch-camelcase.*
	@if [ -e tools/host/programs/Makefile ]; then $(MAKE) -C tools/host/programs clean; fi

run:
	@tools/nbq stress $(STRESS_OPTIONS)

bench:
	@tools/nbq bench $(if $(filter-out 0,$(QUICK)),--quick) $(BENCH_OPTIONS)

check:
	@tools/check $(CHECK_OPTIONS)

check-all:
	@tools/check --all $(CHECK_OPTIONS)

verify:
	@tools/nbq verify

mutate:
	@$(if $(MUTATE_OPTIONS),tools/setup python -- tools/host/mutate/mutate \
		$(MUTATE_OPTIONS),tools/nbq verify mutants)

docs:
	@tools/nbq docs

series:
	@tools/nbq series $(SERIES_OPTIONS)

deb:
	@tools/nbq deb

include tools/ship/packages/install/install.mk

help:
	@echo 'make [modules]        build nbqlock.ko and nbqlock_stress.ko for the running kernel'
	@echo '  KDIR=FOLDER         ... or for the kernel whose headers or build these are'
	@echo 'make modules_install  install them, with KDIR as above'
	@echo 'make install          ... also the headers, the tools, manual pages; make uninstall'
	@echo '  DESTDIR=, INSTALL_MOD_PATH=, INSTALL_MOD_DIR=, prefix=   ... as usual;'
	@echo '                      prefix is /usr/local'
	@echo 'make deb              build the Debian packages: build/deb'
	@echo 'make run              boot user-mode Linux with the modules, compare locks, print a table'
	@echo '  STRESS_OPTIONS=...  ... with options of tools/nbq stress'
	@echo 'make bench            run the experiments there, write a report to results/'
	@echo '  QUICK=1             ... shortened, to see that they work'
	@echo '  BENCH_OPTIONS=...   ... with options of tools/nbq bench'
	@echo 'make check            run the tests; tools/check --list names them'
	@echo 'make check-all        ... all of them, on every kernel, and print a table of kernels'
	@echo '  CHECK_OPTIONS=...   ... with options of tools/check'
	@echo 'make verify           all schedules of small configurations, litmus tests, and whole'
	@echo '                      acquisitions under weak memory, where there is GenMC: a report'
	@echo '                      in build/verification; see also tools/nbq verify --help'
	@echo 'make mutate           make mistakes in copies of the locks, see which tests notice each;'
	@echo '                      for that report, too'
	@echo '  MUTATE_OPTIONS=...  ... with options of tools/host/mutate/mutate: --changed'
	@echo 'make docs             build the documentation as HTML: build/docs/html/index.html'
	@echo 'make series           write patches that add the hybrid to a kernel tree: build/series'
	@echo '  KSRC=FOLDER         ... for that tree'
	@echo '  SERIES_OPTIONS=...  ... with options of tools/nbq series'
	@echo 'make clean            remove what was built here (the cache stays: tools/nbq kernel clean)'
	@echo
	@echo 'run, bench, check, check-all, verify, mutate, docs, series and deb say what they are going'
	@echo 'to install, download and build, and do it; tools/setup --list run names packages.'
	@echo 'Kernels are kept in a cache:'
	@echo '  KSRC=FOLDER         a Linux tree of 6.19 or later, instead of a download'
	@echo '  NBQ_CACHE=FOLDER    the cache, instead of ~/.cache/nbqlock'
	@echo 'See also tools/nbq --help, tools/nbq guest --help, tools/nbq debian-guest --help.'
