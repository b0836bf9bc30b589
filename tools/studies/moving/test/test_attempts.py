# SPDX-License-Identifier: GPL-2.0
"""Attempts of the kernel's spinlocks: which class each is of."""

import os
import shutil
import subprocess
import unittest

from base.common import PROJECT, Failure
from base.test import InFolder
from studies.moving.attempts import CLASSES, counts, files_to_read, find_sites, lines_with_attempts
from studies.moving.steps import PAGE, attempt_rows

# A function's name begins with the class of its attempts.
SAMPLE = r"""
int loop_with_deadline(struct dev *p)
{
	unsigned long end = jiffies + HZ;

	while (!spin_trylock(&p->lock)) {
		if (time_after(jiffies, end)) {
			pr_err("%s: (busy\n", p->name);
			return -ETIMEDOUT;
		}
		cpu_relax();
	}
	return 0;
}

int loop_with_so_many_tries(struct dev *p)
{
	int tries = 1000;

	do {
		if (raw_spin_trylock(&p->lock))
			return 0;
		udelay(10);
	} while (--tries);
	return -EBUSY;
}

void loop_without_end(struct dev *p)
{
	for (;;) {
		if (likely(spin_trylock_bh(&p->lock)))
			break;
		cpu_relax();
	}
}

void loop_in_a_loop(struct dev *p)
{
	for (p = first; p; p = p->next) {
		do_something(p);
		while (!spin_trylock_irqsave(&p->lock, p->flags))
			cpu_relax();
	}
}

void unless_by_a_call(void)
{
	while (!raw_spin_trylock(&nmi_reason_lock)) {
		run_callback(regs);
		cpu_relax();
	}
}

int unless_by_a_condition(struct dev *p)
{
	while (!spin_trylock_irqsave(&p->lock, flags)) {
		if (timer_pending(&p->timer))
			return -1;
	}
	return 0;
}

int unless_in_its_head(struct dev *p)
{
	bool done;

	do {
		done = spin_trylock(&p->lock);
		cpu_relax();
	} while (!done && !p->stop);
	return done;
}

int unless_with_a_deadline_too(struct dev *p)
{
	while (!spin_trylock(&p->lock)) {
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		if (p->stop)
			return -ECANCELED;
		cpu_relax();
	}
	return 0;
}

void panic_write(struct uart_port *port)
{
	bool locked = uart_port_trylock(port);
}

void console_write(struct uart_port *port)
{
	if (port->sysrq)
		locked = 0;
	else if (oops_in_progress)
		locked = uart_port_trylock_irqsave(port, &flags);
	else
		uart_port_lock_irqsave(port, &flags);
}

void console_put(struct uart_port *port)
{
	if (!oops_in_progress)
		uart_port_lock_irqsave(port, &flags);
	else
		locked = uart_port_trylock_irqsave(port, &flags);
}

static void called(void)
{
	if (!spin_trylock(&list_lock))
		return;
}

static int end_of_all(struct notifier_block *nb, unsigned long code, void *unused)
{
	called();
	return 0;
}

static struct notifier_block on_panic = { .priority = 1, .notifier_call = end_of_all };

static void dumps(struct kmsg_dumper *dumper)
{
	if (!raw_spin_trylock_irqsave(&buf_lock, flags))
		return;
}

static struct kmsg_dumper dumper = { .dump = dumps };

static struct page *nolock_page(struct zone *zone)
{
	if (unlikely(alloc_flags & ALLOC_TRYLOCK)) {
		if (!spin_trylock_irqsave(&zone->lock, flags))
			return NULL;
	} else {
		spin_lock_irqsave(&zone->lock, flags);
	}
	return page;
}

static void nolock_else(struct node *n, bool allow_spin)
{
	if (likely(allow_spin))
		spin_lock_irqsave(&n->lock, flags);
	else if (!spin_trylock_irqsave(&n->lock, flags))
		return;
}

static void nolock_after_a_declaration(struct node *p, bool allow_spin)
{
	if (p->needed) {
		struct node *n = p->next;

		if (allow_spin) {
			spin_lock_irqsave(&n->lock, flags);
		} else if (!spin_trylock_irqsave(&n->lock, flags)) {
			/* comment */
			discard(p);
			return;
		}
		add(n, p);
		if (allow_spin)
			spin_unlock_irqrestore(&n->lock, flags);
	}
}

static void once_in_the_other_branch(struct uart_port *port)
{
	if (oops_in_progress)
		printk("oops");
	else if (uart_port_trylock(port))
		uart_port_unlock(port);
}

static void once_of_each(struct list_head *list)
{
	for (;;) {
		list_for_each_entry(p, list, node) {
			if (!spin_trylock(&p->lock))
				continue;
			spin_unlock(&p->lock);
		}
		udelay(1);
	}
}

static void once_under_another_name(void)
{
	if (spin_trylock(&p->lock))
		for (;;)
			cpu_relax();
}

static void no_spinlock(void)
{
	/* spin_trylock(&in_a_comment) */
	mutex_trylock(&m);
	printk("spin_trylock(&in_a_string)");
	bit_spin_trylock(0, &word);
}

#define once_in_a_macro(p)					\
({								\
	spin_trylock(&(p)->lock);				\
})
"""
# Functions whose class is not in their names.
KINDS = {"called": "panic", "dumps": "panic", "console_write": "panic", "console_put": "panic",
         "in a macro": "once"}


@unittest.skipUnless(shutil.which("spatch"), "spatch is not installed")
class AttemptsTest(InFolder):
    def setUp(self):
        super().setUp()
        self.write("drivers/sample.c", SAMPLE)
        self.write("drivers/plain.c", "int f(void)\n{\n\treturn 0;\n}\n")

    def test_each_attempt_is_of_its_class(self):
        sites = find_sites(self.folder)
        found = {site.function: site.kind for site in sites}
        self.assertEqual(found, {name: KINDS.get(name, name.split("_")[0]) for name in found})
        self.assertEqual(len(sites), len(lines_with_attempts(SAMPLE)))
        self.assertEqual({kind: number for kind, (number, _) in counts(sites).items()},
                         {"loop": 4, "unless": 4, "panic": 5, "nolock": 3, "once": 4,
                          "unread": 0})

    def test_what_coccinelle_does_not_understand_is_said(self):
        self.write(
            "drivers/odd.c", "int f(void)\n{\n\treturn spin_trylock(&lock) +* } else (;\n}\n")
        self.assertEqual([str(site) for site in find_sites(self.folder, ["drivers/odd.c"])],
                         ["drivers/odd.c:3: unread"])

    def test_the_command_counts_and_lists(self):
        self.write("Makefile", "VERSION = 7\nPATCHLEVEL = 2\nSUBLEVEL = 0\nEXTRAVERSION =\n")
        command = PROJECT / "tools/studies/moving/attempts"
        done = self.run_command(command, "drivers")
        self.assertRegex(done.stdout, r"(?m)^class +sites +files\n(.*\n)*nolock +3 +1 ")
        done = self.run_command(command, "--list", "nolock")
        self.assertRegex(done.stdout, r"drivers/sample.c:\d+: nolock nolock_page\n")
        self.assertEqual(len(done.stdout.splitlines()), 3)
        done = self.run_command(command, "nowhere")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("has no nowhere", done.stderr)

    def run_command(self, *command):
        return subprocess.run(command, env={**os.environ, "KSRC": str(self.folder)}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


class FilesTest(InFolder):
    def test_which_files_are_read(self):
        for name in ("mm/a.c", "mm/a.h", "kernel/locking/a.c", "tools/a.c", "lib/tests/a.c",
                     "lib/test_a.c", "mm/a_kunit.c", "mm/latest.c", "kernel/torture.c"):
            self.write(name, "\n\tspin_trylock(&a);\n")
        self.assertEqual(files_to_read(self.folder, []),
                         {name: [2] for name in ("mm/a.c", "mm/latest.c", "kernel/torture.c")})
        self.assertEqual(list(files_to_read(self.folder, ["mm"])), ["mm/a.c", "mm/latest.c"])
        with self.assertRaises(Failure):
            files_to_read(self.folder, ["none"])

    def test_page_has_its_table(self):
        self.assertEqual(list(attempt_rows(PAGE.read_text())), list(CLASSES))
        with self.assertRaises(Failure):
            attempt_rows("no table")
