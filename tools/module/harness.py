# SPDX-License-Identifier: GPL-2.0
"""The guest runner: it sees hangs, panics and complaints."""

import re
import shutil

from base.case import Case, runs_on, step
from base.common import BUILD
from guest.cases import USER_MODE, commanded, guest_kernel, guest_report, layout_cases, machine
from guest.complaints import FIRST_PROCESS, WORDS, complaints, without_known
from guest.guest import DIED, HUNG, MOST_STARTS, run_guest
from guest.machines import UserModeMachine

# How reports begin, as the kernels say it that are served.
REPORTS = """
WARNING: CPU: 0 PID: 95 at kernel/time/timer.c:1523 call_timer_fn+0x119/0x140
WARNING: kernel/rcu/tree.c:2718 at rcu_do_batch+0x1b3/0x540, CPU#1: ksoftirqd/1/21
kernel BUG at lib/list_debug.c:29!
BUG: failure at mm/slub.c:4271/kfree()!
BUG: kernel NULL pointer dereference, address: 0000000000000008
BUG: unable to handle page fault for address: ffffc90000a8c000
BUG: Bad page state in process insmod  pfn:03f10
BUG: TASK stack guard page was hit at ffffc9000013bff8 (stack is ffffc9000013c000..f)
Oops: 0002 [#1] PREEMPT SMP NOPTI
Oops: general protection fault, probably for non-canonical address 0xdead000000000100
general protection fault, probably for non-canonical address 0x6b6b6b6b: 0000 [#1] SMP
divide error: 0000 [#1] PREEMPT SMP NOPTI
Unable to handle kernel NULL pointer dereference at virtual address 0000000000000000
Unable to handle kernel paging request at virtual address ffff800082a3d000
Internal error: Oops: 0000000096000044 [#1]  SMP
Internal error: synchronous external abort: 0000000096000010 [#1]  SMP
Kernel panic - not syncing: Kernel mode fault at addr 0x0, ip 0x828310e2
Kernel panic - not syncing: stack-protector: Kernel stack is corrupted in: main+0x0
Call Trace:
Call trace:
WARNING: possible circular locking dependency detected
WARNING: possible recursive locking detected
WARNING: possible irq lock inversion dependency detected
WARNING: HARDIRQ-safe -> HARDIRQ-unsafe lock order detected
WARNING: inconsistent lock state
inconsistent {IN-HARDIRQ-W} -> {HARDIRQ-ON-W} usage.
WARNING: bad unlock balance detected!
WARNING: bad contention detected!
WARNING: held lock freed!
WARNING: insmod/95 still has locks held!
WARNING: lock held when returning to user space!
WARNING: Nested lock was not taken
[ BUG: Invalid wait context ]
INFO: trying to register non-static key.
INFO: lockdep is turned off.
turning off the locking correctness validator.
BUG: MAX_LOCKDEP_CHAINS too low!
WARNING: kernel/locking/mutex.c:156 at __mutex_lock
BUG: spinlock bad magic on CPU#1, insmod/95
BUG: spinlock lockup suspected on CPU#0, nbq_stress/3/99
BUG: sleeping function called from invalid context at include/linux/sched/mm.h:321
BUG: scheduling while atomic: insmod/45/0x00000200
BUG: using smp_processor_id() in preemptible [00000000] code: insmod/95
BUG: workqueue leaked atomic, lock or RCU: kworker/0:1[9]
BUG: workqueue lockup - pool cpus=1 node=0 flags=0x0 nice=0 stuck for 33s!
BUG: assuming atomic context at kernel/bpf/verifier.c:118
BUG: scheduling in a non-blocking section: insmod/95/1
initcall faults_init+0x0/0x1000 [nbq_faults] returned with preemption imbalance
initcall faults_init+0x0/0x1000 [nbq_faults] returned with disabled interrupts
timer: tick+0x0/0x10 [x] preempt leak: 00000100 -> 00000101
huh, entered softirq 6 TASKLET 000000 with preempt_count 00000100, exited with 00000101?
corrupted preempt_count: kthreadd/2/0x2
WARNING: suspicious RCU usage
rcu: INFO: rcu_sched self-detected stall on CPU
rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:
rcu: INFO: rcu_preempt detected expedited stalls on CPUs/tasks: { 1-... } 26 jiffies s: 89
rcu: rcu_preempt kthread starved for 2603 jiffies! g881 f0x0 RCU_GP_WAIT_FQS(5)
rcu: rcu_sched kthread timer wakeup didn't happen for 2602 jiffies! g881 f0x0
INFO: task insmod:95 blocked for more than 122 seconds.
watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [insmod:95]
watchdog: CPU0: Watchdog detected hard LOCKUP on cpu 1
csd: Detected non-responsive CSD lock (#1) on CPU#0, waiting 5000000 ns for CPU#01
BUG: KASAN: slab-use-after-free in use_after_free+0x5c/0x60 [nbq_faults]
BUG: KASAN: use-after-free in use_after_free+0x5c/0x60 [nbq_faults]
BUG: KASAN: slab-out-of-bounds in out_of_bounds+0x5c/0x60 [nbq_faults]
BUG: KCSAN: data-race in race / race
BUG: KCSAN: assert: race in clh_nb_unlock / clh_nb_lock
BUG kmalloc-64 (Tainted: G           O      ): Right Redzone overwritten
BUG nbq_node (Not tainted): Objects remaining on __kmem_cache_shutdown()
UBSAN: array-index-out-of-bounds in memory.c:83:2
UBSAN: shift-out-of-bounds in memory.c:95:9
kmemleak: 4 new suspected memory leaks (see /sys/kernel/debug/kmemleak)
unreferenced object 0xffff888003a1b2c0 (size 64):
kmemleak: Cannot allocate a kmemleak_object structure
kmemleak: Memory pool empty, consider increasing CONFIG_DEBUG_KMEMLEAK_MEM_POOL_SIZE
kmemleak: Kernel memory leak detector disabled
refcount_t: underflow; use-after-free.
list_add corruption. prev->next should be next (ffff8880), but was ffff8881.
list_del corruption, ffff8880->next is LIST_POISON1 (dead000000000100)
ODEBUG: free active (active state 0) object: ffff8880 object type: hrtimer hint: ring
Uhhuh. NMI received for unknown reason 3d on CPU 0.
irq 5: nobody cared (try booting with the "irqpoll" option)
"""
# What healthy kernels say.
HARMLESS = """
Command line: console=ttyS0 panic=-1 oops=panic kcsan.skip_watch=500 warn_limit=1
Linux version 7.2.12 (builder@host) (gcc, GNU ld) #1 SMP PREEMPT_DYNAMIC
Warning: unable to open an initial console.
[Firmware Bug]: TSC frequency mismatch between PM Timer and calibration
kasan: KernelAddressSanitizer initialized (generic)
kcsan: enabled early
kcsan: strict mode configured
kcsan: selftest: 3/3 tests passed
kmemleak: Kernel memory leak detector initialized (mem pool available: 15679)
kmemleak: Automatic memory scanning thread started
Lock dependency validator: Copyright (c) 2006 Red Hat, Inc., Ingo Molnar
... MAX_LOCKDEP_CHAINS:      65536
Running RCU self tests
rcu: Preemptible hierarchical RCU implementation.
rcu: \tRCU lockdep checking is enabled.
rcu: \tRCU CPU stall warnings timeout set to 21 (rcu_cpu_stall_timeout).
rcu: \tRCU debug extended QS entry/exit.
NMI watchdog: Perf NMI watchdog permanently disabled
watchdog: Delayed init of the lockup detector failed: -19
INFO: NMI handler (perf_event_nmi_handler) took too long to run: 1.222 msecs
perf: interrupt took too long (2513 > 2500), lowering kernel.perf_event_max_sample_rate
clocksource: timekeeping watchdog on CPU1: Marking clocksource 'tsc' as unstable
sched: RT throttling activated
workqueue: nbq_pool_grow hogged CPU for >10000us 4 times, consider switching to WQ_UNBOUND
hrtimer: interrupt took 1251300 ns
nbqlock: loading out-of-tree module taints kernel.
nbqlock: module verification failed: signature and/or required key missing - tainting kernel
nbqlock_stress: run begins: lock clh_nb, threads 2, patience_ns 10000, chain_order fixed
    # unlock_by_a_stranger_is_a_bug: pass:3 fail:0 skip:0 total:3
ok 3 possible_orders_of_two_leavers
printk: legacy console [ttyS0] enabled
"""


# What user-mode Linux complains of while it starts its CPUs, its trace cut short.
KNOWN_REPORT = """[    1.72] WARNING: suspicious RCU usage
[    1.72] 7.2.12 #1 Not tainted
[    1.72] -----------------------------
[    1.72] kernel/rcu/tree.c:3163 Callback enqueued on offline CPU!!
[    1.72]
[    1.72] other info that might help us debug this:
[    1.72]
[    1.72]
[    1.72] rcu_scheduler_active = 1, debug_locks = 1
[    1.72] no locks held by swapper/%s/0.
[    1.72]
[    1.72] stack backtrace:
[    1.72] CPU: 1 UID: 0 PID: 0 Comm: swapper/1 Not tainted 7.2.12 #1 PREEMPT
[    1.72] Stack:
[    1.72]  00000002 7fff00000002 7ffff7dafec8 00000000
[    1.72] Call Trace:
[    1.72]  [<600edf20>] ? um_set_signals+0x0/0x90
[    1.72]  [<60b8425b>] ? _raw_spin_unlock_irqrestore+0x7b/0x230
"""


def known_report():
    """The case that one complaint is passed over, of a CPU that starts and no other."""
    last = "[    2.72] WARNING: injected\n"
    begin = f"[    2.71] {FIRST_PROCESS}\n"
    starting, booting = KNOWN_REPORT % 1, KNOWN_REPORT % 0
    logs = {"of a CPU that starts": (starting + last + begin, 1, 1),
            "of the CPU that boots": (booting + last + begin, 3, 0),
            "after the first process": (begin + starting + last, 3, 0)}
    wrong = []
    for what, (log, complained, passed_over) in logs.items():
        left, known = without_known(log)
        if (len(complaints(left)), len(known)) != (complained, passed_over):
            wrong += [what, f"passed over: {known}", left]
    yield Case("guest: a complaint of a CPU that starts is known, and no other is",
               not wrong, "\n".join(wrong))


def lines_of(text):
    return text.strip().splitlines()


def words_known():
    """The cases that complaints are told from what is not one."""
    reports, harmless = lines_of(REPORTS), lines_of(HARMLESS)
    missed = [line for line in reports if not complaints(line)]
    yield Case(f"guest: {len(reports)} beginnings of reports are known", not missed,
               "\n".join(missed))
    idle = [word for word in WORDS if not re.search(word, REPORTS)]
    yield Case("guest: every word that is looked for is in one of them", not idle,
               "\n".join(idle))
    feared = [line for line in harmless if complaints(line)]
    yield Case(f"guest: {len(harmless)} lines of healthy kernels are none", not feared,
               "\n".join(feared))


class DyingMachine(UserModeMachine):
    """A machine whose kernel dies before its first program, so many times."""

    def __init__(self, deaths):
        super().__init__(guest_kernel())
        self.deaths = deaths
        self.starts = 0

    def command(self, folder, initrd, cpus, append, output):
        self.starts += 1
        if self.starts <= self.deaths:
            append = [*append, "rdinit=/no-such-program"]
        return super().command(folder, initrd, cpus, append, output)


def started_by(deaths, command):
    """(the machine, the outcome, report) of a guest whose kernel dies at first."""
    folder = BUILD / "log" / "guest-deaths"
    shutil.rmtree(folder, ignore_errors=True)
    dying = DyingMachine(deaths)
    outcome = run_guest(dying, command, quiet=True, deaths=folder)
    logs = [log.read_text(errors="replace") for log in outcome.early_deaths]
    kept = sum("Kernel panic" in log for log in logs)
    report = (f"{dying.starts} starts, {kept} logs kept, died early: {outcome.died_early}, "
              f"problem: {outcome.problem}\n{guest_report(outcome)}")
    return outcome, dying.starts, kept, report


def early_deaths():
    """The cases that a guest is started anew if nothing of ours was in it yet."""
    outcome, starts, kept, report = started_by(1, "exit 7")
    yield Case("guest: one that dies before its first program is started anew, counted",
               (outcome.status, outcome.problem, starts, kept) == (7, None, 2, 1) and
               not outcome.complaints, report)
    outcome, starts, kept, report = started_by(MOST_STARTS, "exit 7")
    named = all(str(log) in (outcome.problem or "") for log in outcome.early_deaths) and \
        outcome.log_path.exists()
    yield Case(f"guest: one that does so {MOST_STARTS} times is a failure, the logs are named",
               (outcome.status, starts, kept) == (DIED, MOST_STARTS, MOST_STARTS - 1) and
               f"{MOST_STARTS} times" in (outcome.problem or "") and named, report)
    outcome, starts, kept, report = started_by(0, "echo c >/proc/sysrq-trigger; sleep 9")
    yield Case("guest: one that dies after its first program has begun is a failure at once",
               (outcome.status, starts, kept) == (DIED, 1, 0) and
               "panicked" in (outcome.problem or ""), report)


@step("guest")
@runs_on(USER_MODE, "guests")
def guest():
    """the guest runner: exit statuses, hangs, panics, complaints of the kernel"""
    yield commanded("guest: the command's status comes back", "exit 7", 7)
    for limit, said in (({"silence": 5}, ["nbq-0 exit 0\n"]),
                        ({"timeout": 30}, ["nbq-0 exit 0\n"])):
        outcome = run_guest(machine(), "echo nbq-0 exit 0; sleep 10000", quiet=True, **limit)
        yield Case(f"guest: a hang is killed by its {' '.join(limit)} and reported, "
                   "whatever the output says", outcome.status == HUNG and
                   "hung" in (outcome.problem or "") and outcome.output in said,
                   guest_report(outcome))
    outcome = run_guest(machine(), "echo c >/proc/sysrq-trigger; sleep 10000", quiet=True)
    yield Case("guest: a panic is reported",
               outcome.status == DIED and "panicked" in (outcome.problem or ""),
               guest_report(outcome))
    outcome = run_guest(machine(), "echo 'WARNING: injected' >/dev/kmsg", quiet=True)
    yield Case("guest: a complaint in the kernel log is seen",
               outcome.status == 0 and len(outcome.complaints) == 1,
               guest_report(outcome))
    yield from early_deaths()
    yield from layout_cases("guest", guest_kernel())
    yield from words_known()
    yield from known_report()
