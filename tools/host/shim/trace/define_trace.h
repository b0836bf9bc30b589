/* SPDX-License-Identifier: GPL-2.0 */
/* Makes nothing of a header of tracepoints: see linux/tracepoint.h. */
