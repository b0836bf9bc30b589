# SPDX-License-Identifier: GPL-2.0
# make install and make uninstall, for systems without the Debian packages; debian/rules uses the
# parts. What is installed below prefix is put together in build/stage first: the same files are
# installed and uninstalled.

prefix ?= /usr/local
VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
LOCK_HEADERS := $(addsuffix .h, $(shell nbqlock/lock.sh --list))
PUBLIC_HEADERS := $(addprefix nbqlock/, nbqlock.h counters.h types.h $(LOCK_HEADERS) \
	compat.h guard.h spin_types.h bare_spin.h bare_spin_types.h stress.h)
EXAMPLE := Documentation/example
# What the installed nbq imports: no guests, no simulation, no experiments.
TOOLS := $(patsubst tools/%,%,$(wildcard tools/base/*.py)) $(addsuffix .py, \
	$(addprefix measure/, __init__ cli cli_compare compare here host_busy host_load metrics \
		results runner scenario stress_command table) \
	$(addprefix measure/top/, __init__ command counts events instance screen view))
# For drgn, a package of its own.
HELPERS := $(wildcard tools/measure/holders/drgn/nbqlock_drgn/*.py)

STAGE := build/stage
HEADERS := src/nbqlock-headers
COMPLETIONS := share/bash-completion/completions
# Folders that are nbqlock's own; where those are listed that "make install" has made.
OWN := $(HEADERS) share/nbqlock share/doc/nbqlock
MADE := share/nbqlock/folders
RMDIR := rmdir -p --ignore-fail-on-non-empty

# The system that all is installed in: not the running one, if one of the two is given, which then
# is both. Absolute, as kbuild runs in the folder of the kernel.
system = $(patsubst /,,$(abspath $(call fit,$(1),$($(1)))))
override DESTDIR := $(call system,DESTDIR)
override INSTALL_MOD_PATH := $(or $(call system,INSTALL_MOD_PATH),$(DESTDIR))
override DESTDIR := $(or $(DESTDIR),$(INSTALL_MOD_PATH))
override prefix := $(or $(filter /%,$(call fit,prefix,$(prefix))),$(error prefix=$(prefix): \
	no / at its start))
TO := $(DESTDIR)$(prefix)
# Newer kernels' own default; that of 6.1 is "extra".
INSTALL_MOD_DIR ?= updates
# What uname -r says there. Debian's headers may have another one in kernel.release.
RELEASE = $(or $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' \
	$(KDIR)/include/generated/utsrelease.h),$(error $(KDIR) is not prepared for modules))
MODLIB = lib/modules/$(RELEASE)
MODULES = $(MODLIB)/$(INSTALL_MOD_DIR)/nbqlock
# kbuild leaves it out where there is no System.map, as in headers.
DEPMOD_HERE = $(if $(INSTALL_MOD_PATH),,PATH="$$PATH:/usr/sbin:/sbin" depmod $(RELEASE))

.PHONY: install uninstall modules_install stage stage-headers stage-tools install-headers \
	install-tools install-dkms

install: modules_install stage
	mkdir -p $(STAGE)/$(HEADERS)/$(RELEASE)
	install -m 644 Module.symvers $(STAGE)/$(HEADERS)/$(RELEASE)
	cd $(STAGE) && (cat $(TO)/$(MADE); find * -type d ! -exec test -d $(TO)/{} ';' -print) \
		>$(MADE) 2>/dev/null
	$(call place,.)

modules_install: modules
	+umask 022 && $(KBUILD) INSTALL_MOD_PATH=$(INSTALL_MOD_PATH) \
		INSTALL_MOD_DIR=$(INSTALL_MOD_DIR) DEPMOD=true modules_install
	$(DEPMOD_HERE)

uninstall: stage | $(KDIR)/Makefile
	rm -f $(addprefix $(INSTALL_MOD_PATH)/$(MODULES)/,nbqlock.ko* stress/nbqlock_stress.ko*)
	cd $(INSTALL_MOD_PATH)/ && $(RMDIR) $(MODULES)/stress 2>/dev/null || true
	$(DEPMOD_HERE)
	cd $(STAGE) && find . ! -type d -print0 | (cd $(TO) && xargs -0 rm -f --)
	(cd $(TO) || exit; made=$$(sort -r $(MADE)); \
		rm -f $(MADE) $(HEADERS)/$(RELEASE)/Module.symvers; \
		find $(OWN) -depth -name __pycache__ -exec rm -r {} +; \
		find $(OWN) -depth -type d -empty -delete; rmdir $$made) 2>/dev/null || true
	$(if $(DESTDIR),cd $(DESTDIR) && $(RMDIR) $(prefix:/%=%) 2>/dev/null || true)

install-headers: stage-headers
	$(call place,$(HEADERS))

install-tools: stage-tools
	$(call place,bin share)

# $1: folders of build/stage.
define place
	umask 022 && mkdir -p $(TO)
	cd $(STAGE) && tar -cf - --owner=0 --group=0 --mode=u+rwX,go+rX,go-w $1 | \
		(umask 022 && cd $(TO) && tar -x --no-overwrite-dir -f -)
endef

stage: stage-headers stage-tools
	mkdir -p $(STAGE)/share/doc/nbqlock/example
	install -m 644 $(EXAMPLE)/Kbuild $(EXAMPLE)/Makefile $(EXAMPLE)/nbq_example.c \
		$(STAGE)/share/doc/nbqlock/example

stage-headers:
	rm -rf $(STAGE)/src
	mkdir -p $(STAGE)/$(HEADERS)/nbqlock $(STAGE)/$(HEADERS)/bpf
	install -m 644 nbqlock.mk $(STAGE)/$(HEADERS)
	install -m 644 $(PUBLIC_HEADERS) $(STAGE)/$(HEADERS)/nbqlock
	install -m 644 nbqlock/bpf/*.h $(STAGE)/$(HEADERS)/bpf

# In a checkout tools/nbq starts by tools/setup; installed it is a program of Python's.
stage-tools:
	rm -rf $(STAGE)/bin $(STAGE)/share
	mkdir -p $(STAGE)/bin $(STAGE)/share/nbqlock $(STAGE)/share/man/man1 $(STAGE)/$(COMPLETIONS)
	for file in $(TOOLS); do \
		install -D -m 644 tools/$$file $(STAGE)/share/nbqlock/$$file || exit; done
	install -D -m 644 -t $(STAGE)/share/nbqlock/nbqlock_drgn $(HELPERS)
	install -m 644 tools/ship/packages/install/cli_here.py $(STAGE)/share/nbqlock/measure
	install -m 644 nbqlock/stress/*_list.h $(STAGE)/share/nbqlock
	echo $(VERSION) > $(STAGE)/share/nbqlock/version
	sed -e '1s,.*,#!/usr/bin/python3,' -e 3d tools/nbq > $(STAGE)/share/nbqlock/nbq
	chmod 755 $(STAGE)/share/nbqlock/nbq
	ln -s ../share/nbqlock/nbq $(STAGE)/bin/nbq
	install -m 644 tools/ship/packages/install/nbq.bash $(STAGE)/$(COMPLETIONS)/nbq
	tools/ship/packages/install/man $(STAGE)/bin/nbq $(STAGE)/share/man/man1

# The sources that DKMS builds.
DKMS_FILES := dkms.conf Kbuild $(shell cd nbqlock && \
	find . -path ./bpf -prune -o '(' -name Kbuild -o -name "*.h" -o \
		-name "*.c" ! -name "*.mod.c" ')' -print | sed "s,^\.,nbqlock,")
DKMS := src/nbqlock-$(VERSION)

install-dkms:
	umask 022 && for file in $(DKMS_FILES); do \
		install -D -m 644 $$file $(TO)/$(DKMS)/$$file || exit; done
	install -m 755 $(addprefix tools/ship/packages/install/, keep-symvers built-for) $(TO)/$(DKMS)
