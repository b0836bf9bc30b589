# SPDX-License-Identifier: GPL-2.0
# For the Kbuild of a module that uses the locks: include this file. It adds the folder of
# <nbqlock/nbqlock.h> and the symbol versions of the nbqlock that was built for that kernel: in
# this folder, by "make install" or by DKMS.
nbqlock-dir := $(patsubst %/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))

subdir-ccflags-y += -I$(nbqlock-dir)
KBUILD_EXTRA_SYMBOLS += $(firstword $(wildcard \
	$(nbqlock-dir)/Module.symvers $(nbqlock-dir)/$(KERNELRELEASE)/Module.symvers \
	/var/lib/dkms/nbqlock/kernel-$(KERNELRELEASE)-*/Module.symvers))
