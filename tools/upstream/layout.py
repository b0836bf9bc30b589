# SPDX-License-Identifier: GPL-2.0
"""What the patches of the series are made of: which source becomes which file, and how.

Each change of a text is at a place that is searched for. A source or a kernel tree in which one
is not there, or is there twice, is refused.
"""

import re

from testbed.common import PROJECT, Trouble
from upstream.text import (Item, Macro, after, aligned, before, blank_lines, edited, gone, instead,
                           items)

# The conditions that have one answer in a kernel tree; None: not defined.
EVERYWHERE = {"NBQ_SERIES": 1, "context_lock_struct": 1, "DECLARE_LOCK_GUARD_1_ATTRS": 1,
              "WITH_LOCK_GUARD_1_ATTRS": 1, "DEFINE_LOCK_GUARD_1": 1, "__NBQ_GUARDS": 1,
              "lockdep_set_notrack_class": 1, "__counted_by": 1, "__compiletime_error": 1}
# Of what is built in; and of what the explorer and the host tests have of their own.
BUILT_IN = {**EVERYWHERE, "MODULE": None, "NBQ_STATIC_NODES": 16, "NBQ_SPIN_POLICY": None,
            "NBQ_WAIT_TIMES": None, "NBQ_QUEUE_BITS": None, "NBQ_PLACE_BITS": None}
# Words of every source: (regular expression, what it becomes).
WORDS = (
    (r'#include "annotations\.h"\n|#include <linux/version\.h>\n', ""),
    (r'#include (?:"guard\.h"|"trace\.h")\n|^\ttrace_nbq_\w+\(.*\);\n', ""),
    (r'#include (?:"types\.h"|<nbqlock/types\.h>)', "#include <linux/nbqlock_types.h>"),
    (r'#include (?:"(?:spin|nbqlock)\.h"|<nbqlock/nbqlock\.h>)', "#include <linux/nbqlock.h>"),
    (r'#include "bare_spin_types\.h"', "#include <linux/nbqlock_bare_types.h>"),
    (r'#include "(?:\.\./nbqlock/)?bare_spin\.h"', "#include <linux/nbqlock_bare.h>"),
    (r'#include (?:"counters\.h"|<nbqlock/counters\.h>)', "#include <linux/nbqlock_counters.h>"),
    (r'"\.\./nbqlock/(\w+\.h)"', r'"../\1"'),
    (r"\b__nbq_(acquires?|releases?|cond_acquires)\b", r"__\1"),
    (r"\b__nbq_lock_struct\b", "context_lock_struct"),
    (r"IS_ENABLED\(CONFIG_NBQLOCK_KUNIT_TEST\)", "IS_ENABLED(CONFIG_KUNIT)"),
    (r"\bspin\.h\b(?!>)", "nbqlock.h"),
    (r"\b_NBQLOCK_SPIN_H\b", "_LINUX_NBQLOCK_H"),
    (r"\b_NBQLOCK_(TYPES|COUNTERS)_H\b", r"_LINUX_NBQLOCK_\1_H"),
    (r"\b_NBQLOCK_BARE_SPIN(|_TYPES)_H\b", r"_LINUX_NBQLOCK_BARE\1_H"),
    (r"\bDocumentation/nbqlock\.rst", "Documentation/locking/nbqlock.rst"),
)
# What is left of these is a mistake of this file's.
LEFTOVERS = re.compile(
    r"\bLINUX_VERSION_CODE|\bKERNEL_VERSION\(|\bIS_MODULE\(|NBQ_SERIES|\bnbqlock\.ko|<nbqlock/"
    r"|clh_nb|mcs_nb|swap_nb|\bnbq_(?:clh|mcs|swap)\b|\bnbq_(?:clh|mcs|swap)_|[Ee]xplorer"
    r"|\btools/(?:testbed|ci|check|verification)|\bpool_nodes|Documentation/(?!locking)\w+\.rst"
    r"|\btrace_nbq_|nbq_fake_clock|CLH-NB, hybrid|MCS-NB|queue_lock|\bmodule_param", re.ASCII)

CODE = "kernel/locking/nbqlock"
SUITES = f"{CODE}/tests"
TEXTS = "tools/upstream/texts"


class Made:
    """A file of the series, made from a file of the project."""

    def __init__(self, source, *edits, symbols=None):
        self.source = source
        self.edits = edits
        self.symbols = symbols or BUILT_IN

    def finish(self, text):
        for word, becomes in WORDS:
            text = re.sub(word, becomes, text, flags=re.MULTILINE)
        return blank_lines(text)


class Patch:
    """One patch: files that it adds, {path: Made}; files that it changes, {path: edits}."""

    def __init__(self, message, files=None, edits=None):
        self.message = f"{message}.txt"
        self.files = files or {}
        self.edits = edits or {}


def check(texts, base):
    """Nothing of the module is left in what the series adds."""
    for name, text in texts.items():
        if name in base:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            found = LEFTOVERS.search(line)
            if found:
                raise Trouble(f"{name}:{number}: \"{found[0]}\" is left: {line.strip()}\n"
                              "adapt tools/upstream/layout.py")


def field(name):
    """A member of a struct in one line, with what its kernel-doc says of it."""
    return [gone(rf"^ \* @{name}:.*\n(?: \*\t.*\n)*"), gone(rf"^\t\w[\w ]*[ *]{name};\n")]


def cases(*names):
    """Cases of a suite, and their rows."""
    return [edit for name in names
            for edit in (*items(f"static void {name}("),
                         gone(rf"^\tKUNIT_CASE(?:_PARAM)?\({name},?[^;{{]*?\),[ \t]*\\?\n"))]


def own(name, *edits):
    """A text of the series itself."""
    return Made(f"{TEXTS}/{name}", *edits)


def text(name):
    return (PROJECT / TEXTS / name).read_text()


def fields(*names):
    return [edit for name in names for edit in field(name)]


# Patch 1

# What is there for tracepoints of its own.
TRACED = [gone(r"^ \* @traced:.*\n"), gone(r"^\tbool traced:1;\n")]
UNTRACED_WAITS = [
    gone(r"^\tdeadline->traced = .*\n"), gone(r"^\twait->began = .*\n"),
    gone(r"^\t\ttrace_nbq_wait_begin\(.*\n"),
    gone(r"^\tif \(wait->deadline->announced \|\| .*\n\t\ttrace_nbq_wait_end\(.*\n.*\n")]
LOCK_STAT_ONLY = [
    instead(r"^ \* @ip: the caller of the operation; 0: not known\n",
            " * @ip: for lock_stat: the caller of the operation\n"),
    instead(r"^#endif\n\tunsigned long ip;\n", "\tunsigned long ip;\n#endif\n"),
    instead(r"For an initialiser of the above. The map is for lock_stat.",
            "For an initialiser of the above, where there is lock_stat."),
    gone(r"(?<=NBQ_WAIT_STAT\(_dep_map, _ip\))\t\.ip = \(_ip\)$")]

INTERNAL = Made(
    "nbqlock/internal.h",
    *fields("status", "below", "pred_alloc_seq", "has_successor", "known",
            "wants_growth"),
    *items("struct nbq_node *nbq_node_search(",
           "static inline void nbq_node_allocated(",
           "static inline struct nbq_node *nbq_node_alloc_hint(",
           "static inline struct nbq_node *nbq_node_alloc_any(",
           "static inline struct nbq_node *nbq_node_alloc(", "struct nbq_node *nbq_node_wait(",
           "u16 nbq_find_holder(", "void nbq_pool_request_growth(", "void nbq_pools_stop(",
           "void nbq_debugfs_start(", "void nbq_debugfs_stop(",
           "static inline void nbq_node_reclaim_pred(", "static inline void nbq_held_add(",
           "static inline struct nbq_node *nbq_held_find(", "static inline void nbq_held_del(",
           "extern unsigned int nbq_pool_nodes_max", "void nbq_pools_flush(",
           *(f"{kind}nbq_{lock}_{verb}(" for kind, lock, verb in (
               ("struct nbq_node *", "clh", "enqueue"), ("struct nbq_node *", "clh", "poll"),
               ("struct nbq_node *", "clh", "skip"), ("void ", "clh", "granted"),
               ("bool ", "clh", "abandon"), ("bool ", "clh", "release"),
               ("struct nbq_node *", "mcs", "enqueue"), ("struct nbq_node *", "mcs", "link"),
               ("struct nbq_node *", "mcs", "poll"), ("struct nbq_node *", "mcs", "skip"),
               ("void ", "mcs", "granted"), ("bool ", "mcs", "abandon"),
               ("bool ", "mcs", "release"), ("struct nbq_node *", "swap", "enqueue"),
               ("struct nbq_node *", "swap", "link"), ("struct nbq_node *", "swap", "poll"),
               ("void ", "swap", "skip"), ("void ", "swap", "granted"),
               ("void ", "swap", "abandon"), ("void ", "swap", "release")))))
NODES = Made(
    "nbqlock/node.c",
    *items("struct nbq_node *nbq_node_search(", "static unsigned int count_kept(",
           "static struct nbq_node *node_after(", "#define for_each_pool_node(",
           "#define SEARCHES_PER_REPORT", "struct nbq_node *nbq_node_wait(", "#define MOST_HELD",
           "static bool holds(const struct nbq_pool *pool", "u16 nbq_find_holder("))
POOLS = Made(
    "nbqlock/pool.c",
    *items("#define POOL_NODES_LIMIT", "static unsigned int pool_nodes",
           "VISIBLE_IF_KUNIT unsigned int nbq_pool_nodes_max", "static int set_pool_nodes(",
           "static const struct kernel_param_ops pool_nodes_ops", "module_param_cb(pool_nodes,",
           "module_param_cb(pool_nodes_max,", "MODULE_PARM_DESC(pool_nodes,",
           "MODULE_PARM_DESC(pool_nodes_max,", "static struct kmem_cache *node_cache",
           "static struct workqueue_struct *growth_workqueue", "static enum cpuhp_state",
           "static DEFINE_MUTEX(append_mutex)", "static int enlarge(",
           "static int make_encodable(",
           "static void grow(", "static void grow_pools(", "static DECLARE_WORK(",
           "static void queue_growth(", "static DEFINE_PER_CPU(struct irq_work",
           "void nbq_pool_request_growth(", "VISIBLE_IF_KUNIT void nbq_pools_flush(",
           "static int start_growth(", "static void stop_growth(", "static void free_nodes(",
           "static void free_sockets(", "unsigned int nbq_cpu_nodes_in_use(",
           "void nbq_pools_stop("))
TYPES = Made(
    "nbqlock/types.h",
    *items("struct nbq_queue_lock {", *(
        f"__nbq_lock_struct(nbq_{lock}) {{" for lock in ("clh", "mcs", "swap")), *(
            f"#define {name}NBQ_{lock}{end}(" for lock in ("CLH", "MCS", "SWAP")
            for name, end in (("", "_INIT"), ("DEFINE_", "")))))
BARE = Patch("1-bare", {
    "include/linux/nbqlock_bare.h": Made("nbqlock/bare_spin.h"),
    "include/linux/nbqlock_bare_types.h": Made("nbqlock/bare_spin_types.h"),
    "include/linux/nbqlock_types.h": TYPES,
    f"{CODE}/Kconfig": own("Kconfig"),
    f"{CODE}/Makefile": own("Makefile"),
    f"{CODE}/bare_spin.c": Made("nbqlock/bare_spin.c"),
    f"{CODE}/contention.h": Made("nbqlock/contention.h"),
    f"{CODE}/deadline.h": Made("nbqlock/deadline.h", *TRACED),
    f"{CODE}/events.h": Made("nbqlock/events.h"),
    f"{CODE}/events_list.h": Made("nbqlock/events_list.h"),
    f"{CODE}/internal.h": INTERNAL,
    f"{CODE}/node.c": NODES,
    f"{CODE}/pool.c": POOLS,
    f"{CODE}/relax.h": Made("nbqlock/relax.h"),
    f"{CODE}/socket.c": Made(
        "nbqlock/socket.c", gone(r"^#define FIRST_SOCKETS?\t.*\n#define FIRST_SOCKETS?\t.*\n"),
        instead("= FIRST_SOCKETS;", "= 1;"), instead("FIRST_SOCKET }", "&first_socket }")),
    f"{CODE}/socket.h": Made("nbqlock/socket.h"),
    f"{CODE}/wait.c": Made("nbqlock/wait.c", *UNTRACED_WAITS),
    f"{CODE}/wait.h": Made("nbqlock/wait.h", *items("extern bool nbq_deadlock_checks"),
                           *field("began"), *LOCK_STAT_ONLY),
}, {
    "kernel/Kconfig.locks": [
        after(r"^config MMIOWB\n(?:[ \t].*\n)+\Z", f'\nsource "{CODE}/Kconfig"\n')],
    "kernel/locking/Makefile": [
        after(r"^obj-\$\(CONFIG_LOCK_EVENT_COUNTS\) \+= .*\n",
              "obj-$(CONFIG_NBQLOCK) += nbqlock/\n")],
})

# Patch 2

OPERATIONS = Patch("2-operations", {
    "include/linux/nbqlock.h": Made("nbqlock/spin.h"),
    f"{CODE}/attempt.h": Made("nbqlock/attempt.h"),
    f"{CODE}/report.c": Made("nbqlock/report.c", *items("void nbq_report_no_node(",
                                                       "static DEFINE_RATELIMIT_STATE(")),
    f"{CODE}/report.h": Made("nbqlock/report.h", *items("void nbq_report_no_node(")),
    f"{CODE}/spin.c": Made("nbqlock/spin.c"),
}, {
    f"{CODE}/Makefile": [after(r"^(?:obj-y \+= .*\n)+", "obj-y += spin.o report.o\n")],
})

# Patch 3

COUNTERS = Patch("3-counters", {
    "include/linux/nbqlock_counters.h": Made("nbqlock/counters.h"),
    f"{CODE}/debugfs.c": Made("nbqlock/debugfs.c", *items(
        "static unsigned int skipped_baseline", "static unsigned int skipped_total(",
        "static u64 event_total(", "void nbq_skipped_read(", "static void reset_skipped(",
        "static int skipped_show(", "DEFINE_SHOW_ATTRIBUTE(skipped)", "void nbq_debugfs_stop(")),
}, {
    f"{CODE}/Makefile": [after(r"^obj-y \+= spin\.o.*\n", "obj-y += debugfs.o\n")],
    f"{CODE}/pool.c": [
        after(r"^#include <linux/init\.h>\n", "#include <linux/nbqlock_counters.h>\n"),
        before(r"^/\* Without memory for the queues",
               Item("unsigned int nbq_cpu_nodes_in_use(").taken(
                   "nbqlock/pool.c", (PROJECT / "nbqlock/pool.c").read_text()).replace(
                       "as in nbq_node_search()", "pairs with nbq_node_append()") + "\n")],
})

# Patch 4

SUITES_OF = {
    "bare_spin_test.c": (), "common.c": (), "common.h": (), "deadline_test.c": (),
    "deadlocks_test.c": (),
    "define_lock_row.h": (), "lock_row_list.h": (),
    "lock_row.h": items("enum nbq_way {", "struct nbq_guard_use {",
                        "static inline void nbq_guard_use_block(",
                        "static inline void nbq_guard_use_after("), "lock_row_suites.h": (),
    "operations_test.c": (), "socket_test.c": (), "spin_fifo_row.c": (), "spin_row.c": (),
    "spin_row.h": (), "spin_test.c": (),
    "pool_test.c": (
        *cases("appended_node_is_the_last_to_be_allocated",
               "growth_is_requested_in_the_last_quarter",
               "growth_is_requested_again_by_an_empty_pool", "growth_is_not_requested_by_reuse",
               "growth_doubles_a_pool_until_it_stops_at_the_cap",
               "patience_is_spent_on_an_empty_pool",
               "empty_pool_gives_enomem_after_the_patience",
               "empty_pool_gives_ebusy_at_once_without_patience",
               "try_of_a_held_lock_needs_no_node", "enomem_leaves_preemption_as_it_was",
               "trylock_fails_where_the_pool_is_empty", "node_freed_meanwhile_is_used",
               "patience_spent_on_a_node_counts_for_the_lock",
               "untimed_acquisition_waits_for_a_node_from_another_cpu",
               "context_level_decides_whose_nodes_are_used",
               "blank_pool_is_set_up_when_a_node_is_needed",
               "pool_that_is_being_set_up_has_no_node_yet"),
        *items("static const struct growth_case {", "static void growth_desc(",
               "KUNIT_ARRAY_PARAM(growth,", "static int lock_timeout_with(", "struct awaited {",
               "static void nothing(", "static void free_once_awaited(",
               "static const struct level_case {", "static void level_desc(",
               "KUNIT_ARRAY_PARAM(level,", "static void read_taken(", "struct unready {",
               "static void attempt_unready(", "static struct unready *attempt_in_pool(")),
}
KUNIT = Patch("4-kunit", {
    f"{SUITES}/.kunitconfig": own("kunitconfig"),
    f"{SUITES}/Makefile": own("Makefile.tests"),
    **{f"{SUITES}/{name}": Made(f"kunit/{name}", *edits, symbols=EVERYWHERE)
       for name, edits in SUITES_OF.items()},
}, {
    f"{CODE}/Kconfig": [after(r"\Z", text("Kconfig.kunit"))],
    f"{CODE}/Makefile": [after(r"^obj-y \+= debugfs\.o\n",
                               "\nobj-$(CONFIG_NBQLOCK_KUNIT_TEST) += tests/\n")],
})

# Patch 5

TORTURE_KINDS = (("nbq_spin", "spin", "0"), ("nbq_spin_fifo", "spin", "NBQ_SPIN_FIFO"))
TORTURE_FORMS = ("", "_irq", "_timed", "_timed_irq", "_try")


def torture_operations():
    """The operations of locktorture, written out."""
    source = (PROJECT / "tools/ci/torture/nbq_ops.h").read_text()
    whole = Macro(source, "NBQ_TORTURE_TYPE")
    parts = [Macro(source, name) for name in ("NBQ_TORTURE_OPS", "nbq_torture_init_spin")]
    head = source[source.index("/* Below the longer holds"):
                  source.index("/* The holds of locktorture's spinlocks")]
    head = edited("nbq_ops.h", head, (
        gone(r'^\tpr_alert\("nbqlock: %u of %u CPUs online.*\n\ttorture_onoff_stats\(\);\n'),
        instead(r"^/\*\n \* Its memory goes.*\n.*\n \*/\n",
                "/* The locks are destroyed: see what has become of the nodes. */\n")))
    blocks = [head]
    for kind in TORTURE_KINDS:
        block = whole.expand(kind)
        for part in parts:
            block = part.written_out(block)
        blocks.append(block + ";\n")
    code = re.sub(r"^}(;?)\n(?=static)", r"}\1\n\n", "\n".join(blocks), flags=re.MULTILINE)
    return ("#ifdef CONFIG_NBQLOCK\n\n" + blank_lines(aligned(code)) +
            "\n#endif /* CONFIG_NBQLOCK */\n\n")


def torture_rows():
    rows = "".join(f"\t\t&torture_{kind}{form}_ops,\n" for kind, _, _ in TORTURE_KINDS
                   for form in TORTURE_FORMS)
    return f"#ifdef CONFIG_NBQLOCK\n{rows}#endif\n"


def torture():
    return Patch("5-locktorture", {}, {
        "kernel/locking/locktorture.c": [
            after(r"^#include <linux/delay\.h>\n",
                  "#include <linux/nbqlock.h>\n#include <linux/nbqlock_counters.h>\n"),
            before(r"^/\*\n \* Lock torture writer kthread\.", torture_operations()),
            before(r"(?<=\n)\t\t&rw_lock_ops,", torture_rows())],
        "Documentation/locking/locktorture.rst": [
            after(r'^\t\t     - "rwsem_lock":\n(?:\t\t\t\t.*\n)+', text("locktorture.rst"))],
    })


# Patch 6

DOCUMENTATION = Patch("6-documentation", {
    "Documentation/locking/nbqlock.rst": own("nbqlock.rst"),
}, {
    "Documentation/locking/index.rst": [after(r"^    mutex-design\n", "    nbqlock\n")],
})


class Entry:
    """The entry in MAINTAINERS, in the order of the titles."""

    TITLE = "NBQLOCK: QUEUED SPINLOCK WITH TIMEOUTS"

    def __init__(self, author):
        self.lines = (f"{self.TITLE}\nM:\t{author}\nL:\tlinux-kernel@vger.kernel.org\n"
                      "S:\tMaintained\nF:\tDocumentation/locking/nbqlock.rst\n"
                      f"F:\tinclude/linux/nbqlock*.h\nF:\t{CODE}/\n"
                      "K:\t\\bnbq_(bare_)?spin_\n\n")

    def apply(self, name, text):
        titles = list(re.finditer(r"(?<=\n\n)(?!THE REST\n)([A-Z0-9].*)\n(?=[A-Z]:\t)", text))
        # An entry or two may stand at a wrong place: where the fewest are on the wrong side.
        wrong = [sum(title[1] > self.TITLE for title in titles[:at]) +
                 sum(title[1] < self.TITLE for title in titles[at:])
                 for at in range(len(titles))]
        if not wrong:
            raise Trouble(f"{name} has no place for an entry: adapt tools/upstream/layout.py")
        at = titles[wrong.index(min(wrong))].start()
        return text[:at] + self.lines + text[at:]


def patches(author):
    BARE.edits["MAINTAINERS"] = [Entry(author)]
    return (BARE, OPERATIONS, COUNTERS, KUNIT, torture(), DOCUMENTATION)
