/* SPDX-License-Identifier: GPL-2.0 */
/* The packet that the kernel's test gives its programs; none reads it. */
#ifndef SELFTEST_NETWORK_HELPERS_H
#define SELFTEST_NETWORK_HELPERS_H

static unsigned char pkt_v4[64];

#endif /* SELFTEST_NETWORK_HELPERS_H */
