# SPDX-License-Identifier: GPL-2.0
# For a module that uses the locks.
nbqlock-dir := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))

ifneq ($(KBUILD_EXTMOD),)
# Its Kbuild includes this file. It adds the folder of <nbqlock/nbqlock.h> and the symbol versions
# of the nbqlock that was built for that kernel: in this folder, by "make install" or by DKMS.
# And a result that is ignored is an error, unless its Kbuild says otherwise:
#	ccflags-y += -Wno-error=unused-result
subdir-ccflags-y += -I$(nbqlock-dir) -Werror=unused-result
KBUILD_EXTRA_SYMBOLS += $(firstword $(wildcard \
	$(nbqlock-dir)/Module.symvers $(nbqlock-dir)/$(KERNELRELEASE)/Module.symvers \
	/var/lib/dkms/nbqlock/kernel-$(KERNELRELEASE)-*/Module.symvers))
else
# Its Makefile can: NBQ_COMPILER is, as words for make, the compiler of the kernel in KDIR, if that
# is clang, whose options gcc does not know. The kernel's build takes gcc unless it is told.
nbq-config = $(shell sed -n 's/^CONFIG_$(1)=//p' $(KDIR)/include/config/auto.conf 2>/dev/null)
nbq-suffix = -$(shell expr $(call nbq-config,CLANG_VERSION) / 10000)
nbq-clang = $(if $(shell command -v clang$(nbq-suffix) 2>/dev/null),$(nbq-suffix))
NBQ_COMPILER = $(if $(LLVM)$(filter command,$(origin CC)),,$(if $(call nbq-config,CC_IS_CLANG),\
	$(if $(call nbq-config,LD_IS_LLD),LLVM=$(or $(nbq-clang),1),CC=clang$(nbq-clang))))
endif
