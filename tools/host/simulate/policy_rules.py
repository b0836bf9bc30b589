# SPDX-License-Identifier: GPL-2.0
"""The rules of the hybrid's policy (nbqlock/spin_policy.h): how each is taken out, and where that
is noticed.
"""

from dataclasses import dataclass

AWAY = {"away_every_ns": 1000000, "away_ns": 200000}
RETRY = {"retry": "at_once"}
# What is special at the points that are more than CPUs/sockets.
SPECIAL = {
    "24/1/400ns": {"patience_ns": 400, **RETRY},
    "64/1/400ns": {"patience_ns": 400, **RETRY},
    "128/1/400ns/pause": {"patience_ns": 400},
    "160/1/400ns/pause": {"patience_ns": 400},
    "24/8/400ns": {"patience_ns": 400, **RETRY},
    "48/4/4us": {"patience_ns": 4000, **RETRY},
    "64/8/12.8us": {"patience_ns": 12800, **RETRY},
    "24/8/mixed": {"impatient_permille": 500, "impatient_ns": 15000},
    "24/8/tries": {"impatient_permille": 500},
    "32/8/empty": {"cs_ns": 0, "ncs_ns": 0},
    "8/8/long": {"duration_us": 5000},
    "24/8/half": {"ncs_ns": "800*cpus"},
    "16/8/stops": {"cs_ns": 2000, "stop_us": 1000, "stop_waiters": 1, "duration_us": 2000,
                   "warmup_us": 1400},
    "24/1/away": {"duration_us": 6000, **AWAY},
    "32/8/away": {"duration_us": 5000, **AWAY},
    "24/1/away/50us": {"patience_ns": 50000, "duration_us": 6000, **AWAY, **RETRY},
    "64/8/away/100us": {"patience_ns": 100000, "duration_us": 3000, **AWAY, **RETRY},
    "64/1/32cores": {"cores": 32, "slice_ns": 1000000, "migrate": 1, "paravirt": 1,
                     "ple_window_ns": 1365, "ncs_ns": 10000, "duration_us": 4000},
    "16/1/2locks": {"locks": 2, "shared_queue": 1},
    "64/1/2locks": {"locks": 2, "shared_queue": 1},
    "64/8": {"duration_us": 1500},
    "64/8/cs3us": {"cs_ns": 3000, "duration_us": 3000},
}
# name: settings
POINTS = {name: {**dict(zip(("cpus", "sockets"), name.split("/"))), **SPECIAL.get(name, {})}
          for name in ("2/1", "4/2", "8/1", "64/1", "8/8", "16/8", "24/8", "160/8", *SPECIAL)}


@dataclass(frozen=True)
class Rule:
    """changes: as without.py has them. noticed: "POINT: FIGURE < BOUND", or >, as a multiple of
    the whole's figure.
    """

    name: str
    changes: tuple
    noticed: str


# The values of spin_policy.h that no rule changes by their name: the rule that they are part of;
# nothing: no experiment notices them.
PART_OF = {
    "PATIENT_NS": "the request", "IDLE_NS": "steal what is idle for 2 us",
    "IDLE_POLLS": "steal what is idle for 2 us", "AHEAD_NS": "", "LOOK_PAST": "",
    "HAS_POLLED": "15 of 16 polls before the queue", "HAS_TICKED": "2 us between ticks of a place",
}

HANDS_ON = "nbq_head_hands_on"
RULES = (
    Rule("resumed places", ("nbq_spin_abandon - nbq_note_abandoned",), "64/8/12.8us: late > 4"),
    Rule("no poll of the lock after a patience that was over",
         ("wait_as_newcomer: newcomer = LOOKS_ON;",), "24/1/400ns b: late > 1.2"),
    Rule("15 of 16 polls before the queue", ("POLLS_BEFORE_QUEUE = 1U",), "8/1: misses > 1.2"),
    Rule("enqueue after a lost race or a request",
         ("wait_as_newcomer - if (hurries",), "32/8/empty: rate < 0.6"),
    Rule("steal past a request of an empty queue",
         ("may_steal: return !state.handoff || nbq_handoff_has_expired(state.handoff) ||"
          " interrupts_waiter(lock, pool, context);",), "32/8/empty b: rate < 0.88"),
    Rule("an attempt without patience steals past abandoned",
         ("try_steal: past_abandoned = false;",), ""),
    Rule("steal what is idle for 2 us",
         ("nbq_is_idle_too_long: return false;",), "24/1/away: rate < 0.85"),
    Rule("queues of sockets",
         ("HAS_LITTLE_PATIENCE = true",
          "has_rivals: return false;"), "32/8/empty: rate < 0.6"),
    Rule("the machine's queue for little patience",
         ("HAS_LITTLE_PATIENCE = false",), "24/8/400ns: rate < 0.75"),
    Rule("awaiting the turn on its own line",
         ("nbq_head_awaits_turn: return false;",), "24/8: misses > 1.7"),
    Rule("the request", ("is_patient: return false;",), "24/8: jain < 0.3"),
    Rule("expiry of the request", ("HANDOFF_UNITS = 1000U",), "24/8: wait > 5"),
    Rule("the request for another socket",
         ("turn_to_request: return head->place->turn;",), "64/8 b: wait > 2"),
    Rule("the request for the successor",
         (f"{HANDS_ON} - if (is_patient",), "160/8 b: rate < 0.93"),
    Rule("a found request for the successor",
         ("hands_on_request: return false;",), "4/2 b: jain < 0.8"),
    Rule("not eight times in eight", ("hands_on_request: return true;",), "4/2 b: rate < 0.8"),
    Rule("the machine's head leaves the request",
         (f"{HANDS_ON}: if (!has_own_turn(head, state)) state.handoff = 0;",),
         "24/8/mixed: wait > 1.6"),
    Rule("the turn ends when the queue drains",
         ("nbq_place_take - place->was_behind",), "24/8: wait > 2"),
    Rule("but not that of one waiter",
         ("nbq_place_take - place->was_behind",
          "choose_next_turn: head->place->was_behind = true;"), "8/8: rate < 0.87"),
    Rule("the next turn chosen ahead", ("nbq_head_waits - choose_next_turn",), "24/8: wait > 1.8"),
    Rule("a preempted head is not awaited",
         ("is_awaited: return awaiting_queue(head, socket);",), "16/8/stops: rate < 0.95"),
    Rule("the next socket is notified", ("notify_socket: return;",), "24/8: wait > 4"),
    Rule("the successor seen ahead",
         ("beat - nbq_place_check_successor",), "64/1 b: rate < 0.9"),
    Rule("the head reads the lock before the tail",
         ("poll_as_head - nbq_place_check_successor",
          "poll_as_head: nbq_place_check_successor(head->place);"), "24/8: rate < 0.96"),
    Rule("the second queue of a lock", ("is_in_second: return false;",), "64/1/2locks: rate < 0.6"),
    Rule("the wait begins behind the swap of the tail",
         ("nbq_place_take - place->since", "choose_queue: place->since = wait->now;"),
         "160/1/400ns/pause b: rate < 0.5"),
    Rule("an attempt whose place is gone stays as the tail",
         ("nbq_place_resume - place->lost_place",), "128/1/400ns/pause b: rate < 0.8"),
    Rule("16 polls between the head's clock reads",
         ("POLLS_AS_HEAD = 1U",), "8/1 b: misses > 1.2"),
    Rule("no more than these 16", ("POLLS_AS_HEAD = 1000U",), "8/8 b: rate < 0.85"),
    Rule("the acting head",
         ("check_pred: place->competes = is_first_of_lock(place, wait); return;",),
         "24/1/away/50us: wait > 1.9"),
    Rule("the first of its lock in a queue acts",
         ("is_first_of_lock: return false;",), ""),
    Rule("the acting head by heartbeat",
         ("STALLED_NS = 1000000000000",), "24/1/away/50us: wait > 1.7"),
    Rule("the acting head by hypervisor", ("set paravirt=0",), "64/1/32cores: wait > 1.6"),
    Rule("2 us between ticks of a place", ("TICK_NS = 0",), ""),
    Rule("100 us between checks of it", ("CHECK_PRED_NS = 0",), "64/1: misses > 1.8"),
    Rule("20 us between those of resumed places",
         ("CHECK_RESUMED_NS = 0",), "64/1/400ns: misses > 1.1"),
    Rule("a check after a skip", ("skip_abandoned - check_pred",), "24/1/away/50us: rate < 0.95"),
)
