# SPDX-License-Identifier: GPL-2.0
"""The lines of the interface: what a header and the modules' files give."""

from base.test import InFolder
from ship.interface import exports, interface_of

HEADER = """
/* int not_this(void); */
#ifndef _HEADER_H
#define _HEADER_H
#define PUBLIC(a, b) \\
	do { private(a); } while (0)
#define __private(a)	(a)
#define class_x_constructor(_T)	_T

struct nbq_forward;

enum nbq_level {
	NBQ_TASK,	/* a task */
	NBQ_LEVELS
};

struct nbq_timeout {
	u64 waited_ns;
};

__nbq_lock_struct(nbq_clh) {
	struct nbq_node *tail;
};

static inline int __must_check nbq_try(struct nbq_clh *lock,
				       ktime_t patience)
	__nbq_cond_acquires(0, lock)
{
	if (lock) {
		return 1;
	}
	return __nbq_try(lock);
}

int __nbq_lock_nested(struct nbq_clh *lock);
void nbq_clh_lock_nested(struct nbq_clh *lock) __nbq_acquires(lock);
DEFINE_LOCK_GUARD_1(nbq_clh, struct nbq_clh,
		    lock(_T->lock), unlock(_T->lock))
__NBQ_DEFINE_GUARD_COND(nbq_clh_timeout, false,
			try(lock, patience),
			unlock(_T.lock), struct nbq_clh *lock, ktime_t patience)
#endif
"""
MODULE = """
module_param_named(checks, nbq_checks, bool, 0644);
EXPORT_SYMBOL_GPL(nbq_lock);
EXPORT_SYMBOL_IF_KUNIT(nbq_enqueue);
NBQ_DEFINE_QUEUE_LOCK(clh, &ops, nbq_clh_destroy,
		      nbq_clh_lock);
/* EXPORT_SYMBOL_GPL(nbq_comment); */
"""


class InterfaceTest(InFolder):
    def test_a_header(self):
        self.assertEqual(sorted(interface_of(HEADER)), [
            "define PUBLIC(a, b)", "enum nbq_level { NBQ_TASK, NBQ_LEVELS }",
            "guard nbq_clh(struct nbq_clh *lock)",
            "guard nbq_clh_timeout(struct nbq_clh *lock, ktime_t patience)",
            "int nbq_try(struct nbq_clh *lock, ktime_t patience)", "struct nbq_clh",
            "struct nbq_forward", "struct nbq_timeout { u64 waited_ns; }",
            "void nbq_clh_lock_nested(struct nbq_clh *lock)"])

    def test_attributes_and_bodies_are_no_interface(self):
        other = HEADER.replace("static inline ", "").replace("__must_check ", "").replace(
            "return 1;", "return 2;")
        self.assertNotEqual(other, HEADER)
        self.assertEqual(interface_of(other), interface_of(HEADER))

    def test_a_parameter_of_a_function_is(self):
        other = HEADER.replace("ktime_t patience)\n	__nbq", "u64 patience)\n	__nbq")
        self.assertNotEqual(interface_of(other), interface_of(HEADER))

    def test_a_module(self):
        self.write("main.c", MODULE)
        self.assertEqual(exports(self.folder), [
            "export nbq_lock", "export nbq_clh_destroy", "export nbq_clh_lock",
            "parameter checks 0644"])
