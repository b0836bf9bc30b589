/* SPDX-License-Identifier: GPL-2.0 */
#include <bpf/bpf_helpers.h>
