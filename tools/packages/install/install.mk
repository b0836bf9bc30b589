# SPDX-License-Identifier: GPL-2.0
# make install and make uninstall, for systems without the Debian packages; debian/rules uses the
# parts. What is installed below prefix is put together in build/stage first: the same files are
# installed and uninstalled.

prefix ?= /usr/local
VERSION := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)
PUBLIC_HEADERS := $(addprefix nbqlock/, nbqlock.h counters.h types.h spin.h clh.h mcs.h swap.h \
	compat.h guard.h spin_types.h bare_spin.h bare_spin_types.h stress.h)
EXAMPLE := Documentation/example
# What the installed nbq imports: no guests, no simulation, no experiments.
TOOLS := $(addsuffix .py, \
	$(addprefix measure/, __init__ cli cli_compare cli_stress compare hardware here metrics \
		parameters progress results runner scenario table testbeds) \
	$(addprefix testbed/, __init__ common driver lines versions) \
	$(addprefix top/, __init__ cli counts events instance screen view))

STAGE := build/stage
HEADERS := src/nbqlock-headers
COMPLETIONS := share/bash-completion/completions
TO := $(DESTDIR)$(prefix)
# Folders that are nbqlock's own.
OWN := $(HEADERS) share/nbqlock share/doc/nbqlock

RELEASE = $(shell cat $(KDIR)/include/config/kernel.release)
UPDATES = $(DESTDIR)/lib/modules/$(RELEASE)/updates
SYMVERS = $(TO)/$(HEADERS)/$(RELEASE)/Module.symvers

.PHONY: install uninstall install-modules uninstall-modules stage stage-headers stage-tools \
	install-headers install-tools install-dkms

install: install-modules stage
	$(call place,.)

uninstall: uninstall-modules stage
	cd $(STAGE) && find . ! -type d -print0 | (cd $(abspath $(TO)) && xargs -0 rm -f --)
	cd $(TO) && find $(OWN) -depth -name __pycache__ -exec rm -r {} + 2>/dev/null || true
	cd $(TO) && find $(OWN) -depth -type d -empty -delete 2>/dev/null || true

# The modules; below DESTDIR depmod is left to the system that they are for.
install-modules: modules
	$(MAKE) modules_install INSTALL_MOD_PATH=$(DESTDIR) $(if $(DESTDIR),DEPMOD=true)
	install -D -m 644 Module.symvers $(SYMVERS)

uninstall-modules: | $(KDIR)/Makefile
	rm -f $(UPDATES)/nbqlock/nbqlock.ko* $(UPDATES)/nbqlock/stress/nbqlock_stress.ko* $(SYMVERS)
	for folder in $(UPDATES)/nbqlock/stress $(UPDATES)/nbqlock; do \
		[ ! -d $$folder ] || rmdir $$folder; done
	$(if $(DESTDIR),,depmod $(RELEASE))

install-headers: stage-headers
	$(call place,$(HEADERS))

install-tools: stage-tools
	$(call place,bin share)

# $1: folders of build/stage.
define place
	mkdir -p $(TO)
	cd $(STAGE) && tar -cf - --owner=0 --group=0 --mode=u+rwX,go+rX,go-w $1 | \
		(cd $(abspath $(TO)) && tar -x --no-overwrite-dir -f -)
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
	echo $(VERSION) > $(STAGE)/share/nbqlock/version
	sed -e '1s,.*,#!/usr/bin/python3,' -e 3d tools/nbq > $(STAGE)/share/nbqlock/nbq
	chmod 755 $(STAGE)/share/nbqlock/nbq
	ln -s ../share/nbqlock/nbq $(STAGE)/bin/nbq
	install -m 644 tools/packages/install/nbq.bash $(STAGE)/$(COMPLETIONS)/nbq
	tools/packages/install/man $(STAGE)/bin/nbq $(STAGE)/share/man/man1

# The sources that DKMS builds.
DKMS_FILES := dkms.conf Kbuild $(shell cd nbqlock && \
	find . -path ./bpf -prune -o '(' -name Kbuild -o -name "*.h" -o \
		-name "*.c" ! -name "*.mod.c" ')' -print | sed "s,^\.,nbqlock,")
DKMS := src/nbqlock-$(VERSION)

install-dkms:
	for file in $(DKMS_FILES); do \
		install -D -m 644 $$file $(TO)/$(DKMS)/$$file || exit; done
	install -m 755 tools/packages/install/keep-symvers $(TO)/$(DKMS)
