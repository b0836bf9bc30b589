// SPDX-License-Identifier: GPL-2.0
/// Finds two mistakes: an unlock after an attempt that has failed, as by an inverted test (0 is
/// success), and a jump that leaves the lock held.
///
/// tools/studies/moving/mistakes runs it. Alone, or by "make coccicheck" in a kernel tree:
///	spatch --very-quiet --no-includes --sp-file mistakes.cocci driver.c
//
// A rule knows which paths there are, and not under which conditions. Where another condition
// decides whether the lock is held, nothing is reported.
//
// Regular expressions of identifiers are without groups and "|", whose signs differ between builds
// of spatch: "_t?r?y?lock" is an acquisition, and no unlock; "^[nrs][bap]" is nbq_, raw_spin_ or
// spin_.

virtual report
virtual sites

@initialize:python@
@@
import linecache
import re

# Whose results are tested here; which of them cannot fail; which return true for success.
OURS = re.compile(r"nbq_\w+_(try)?lock|(raw_)?spin_(try)?lock_(timeout|unless)")
CERTAIN = re.compile(r"(nbq_(?!arena)\w+|(raw_)?spin)_lock(_irq|_irqsave|_bh)?(_nested)?")
TRY = re.compile(r"_trylock(_irq|_irqsave|_bh)?$")
HINT = re.compile(r"(?:(?:un)?likely|WARN_ON(?:_ONCE)?)? ?\( (.*) \)")
COMPARED = re.compile(r"|[!=]= (0|false)|< 0|== - E\w+")
ELSEWHERE = re.compile(r"\b(return|goto|break|continue|panic|BUG|abort|exit)\b|_lock|_takeover")
ENDS_IN_JUMP = re.compile(r"\b(return [^;]*|goto \w+ |break|continue) ?; ?}?$")
LOOP = re.compile(r"while|do|switch|\w*for|\w*for_each\w*")
ASSIGNMENT = re.compile(r"[^=!<>]=[^=]")

unlocks, blocks, labels = {}, {}, {}
nested, inverted, said = set(), set(), set()

def place(p):
	return p[0].file, int(p[0].line), int(p[0].column)

def unwrapped(text):
	while HINT.fullmatch(text):
		text = HINT.fullmatch(text)[1]
	return text

def means(E, R, op):
	"""What (then, else) of a condition mean: True: acquired, False: failed, None: not known."""
	E = unwrapped(E)
	terms = [term for term in map(unwrapped, re.split(r" (?:&&|\|\|) ", E)) if R in term]
	if not OURS.match(op) or len(terms) != 1 or " && " in E and " || " in E:
		return None, None
	left, _, right = terms[0].partition(R)
	negated, compared = left.strip(" ("), right.strip(" )")
	if negated not in ("", "!") or not COMPARED.fullmatch(compared):
		return None, None
	true = bool(negated) == bool(re.match("== [0f]", compared))
	acquired = true == bool(TRY.search(op))
	return (None if " || " in E else acquired,
		None if " && " in E or "- E" in compared else not acquired)

def warn(p, text):
	if (place(p), text) not in said:
		said.add((place(p), text))
		coccilib.report.print_report(p[0], "WARNING: " + text)

def unlock_after_failure(p, op, u):
	if place(p) not in nested:
		inverted.add(place(p))
		warn(u, "unlock, although %s() in line %s has failed%s" %
			(op, p[0].line, "" if TRY.search(op) else ": 0 is success"))

def leads_to_unlock(g, p, lock, last):
	"""Whether a jump may, by where it stands and goes to: not to another attempt first."""
	file, *here = place(g)
	jump = re.match(r"goto (\w+)|\w+", linecache.getline(file, here[0])[here[1]:])
	if not jump or jump[1]:
		return not jump or (file, g[0].current_element, jump[1], lock) in labels
	around = [block for block in blocks.get(file, ()) if block[1] <= here < block[2] and
		  (block[0] != "switch" or jump[0] == "break")]
	if jump[0] == "return" or not around:
		return False
	_, start, end = max(around, key=lambda block: block[1])
	if jump[0] == "break":
		return last > (file, *end)
	# Each turn begins with an attempt, unless it begins with the lock held.
	held = any((file, *start) < u < place(p) for u in unlocks[file, g[0].current_element, lock])
	return held or not (file, *start) < place(p) < (file, *end)

def hands_over(p, lock, result):
	"""Whether a function says that it keeps the lock, or calls what may release it."""
	head = "".join(linecache.getline(p[0].file, line) for line in
		       range(int(p[0].current_element_line), int(p[0].line))).partition("{")[0]
	owner = re.search(r"\w+", lock)[0]
	return re.search("acquires|releases|must_hold", head) or "unlock" in result or \
		" (" in result and owner in result.split()

# With an unlock further down. Else the function may be one that acquires for its caller.
def left_held(p, op, lock, g, result=""):
	last = max(unlocks.get((place(g)[0], g[0].current_element, lock), [place(g)]))
	if place(p) not in inverted | nested and place(p) < place(g) < last and \
	   not hands_over(p, lock, result) and not leads_to_unlock(g, p, lock, last):
		warn(g, "leaves %s held, which %s() in line %s has acquired" %
			(lock.replace(" ", ""), op, p[0].line))

@unlocks@
identifier free =~ "_unlock";
expression lock;
position u;
@@
  free@u(lock, ...)

@script:python@
u << unlocks.u;
lock << unlocks.lock;
@@
unlocks.setdefault((u[0].file, u[0].current_element, lock), []).append(place(u))

@attempts@
identifier op =~ "_t?r?y?lock";
expression lock;
position p;
@@
  op@p(lock, ...)

@script:python depends on sites@
op << attempts.op;
p << attempts.p;
@@
if OURS.match(op):
	print("site %s" % p[0].line)

@script:python@
op << attempts.op;
@@
cocci.include_match(bool(OURS.match(op)) and not CERTAIN.fullmatch(op))

// An attempt while the lock is held already is a test of -EDEADLK.

@own exists@
identifier certain =~ "_lock", free =~ "_unlock", attempts.op;
expression attempts.lock;
position attempts.p;
@@
  certain(lock, ...);
  ... when != free(lock, ...)
      when any
  op@p(lock, ...)

@script:python@
certain << own.certain;
p << attempts.p;
@@
if CERTAIN.fullmatch(certain):
	nested.add(place(p))

// Which if asks for the result of an attempt. R: the attempt, or the variable that has its result

@tests disable neg_if, ne_if, drop_else, is_zero, isnt_zero@
identifier op =~ "^[nrs][bap].*_t?r?y?lock";
expression lock, R, E;
position p, i;
statement S, T;
@@
(
  if@i (\(E\&<+... \(op@p(lock, ...)\&R\) ...+>\)) S else T
|
  if@i (\(E\&<+... \(op@p(lock, ...)\&R\) ...+>\)) S
|
  R = op@p(lock, ...)
  ... when != R
  if@i (\(E\&<+... R ...+>\)) S else T
|
  R = op@p(lock, ...)
  ... when != R
  if@i (\(E\&<+... R ...+>\)) S
)

// Where a jump leads: labels, loops and switches around it

@script:python here@
u << unlocks.u;
fn;
@@
coccinelle.fn = u[0].current_element

@around@
identifier here.fn;
statement S;
position s;
@@
  fn(...) { <... S@s ...> }

@script:python@
S << around.S;
s << around.s;
@@
word = re.match(r"\w*", S)[0]
if LOOP.fullmatch(word):
	file, *start = place(s)
	end = [int(s[0].line_end), int(s[0].column_end)]
	blocks.setdefault(file, []).append((word, start, end))

@labels exists@
identifier l, free =~ "_unlock", again =~ "_t?r?y?lock";
expression unlocks.lock;
position s, u;
@@
  l@s:
  ... when != again(lock, ...)
  free@u(lock, ...)

@script:python@
l << labels.l;
lock << unlocks.lock;
s << labels.s;
u << labels.u;
@@
labels[s[0].file, s[0].current_element, l, lock] = place(u)

// An unlock where the attempt has failed: in a branch, behind the if, without a test, in a loop

@in_then disable neg_if, ne_if, drop_else exists@
identifier free =~ "_unlock", again =~ "_t?r?y?lock";
expression tests.lock;
position tests.i, u;
statement T;
@@
(
  if@i (...) {
	... when != again(lock, ...)
	    when != nbq_spin_takeover(lock, ...)
	free@u(lock, ...)
	... when any
  } else T
|
  if@i (...) {
	... when != again(lock, ...)
	    when != nbq_spin_takeover(lock, ...)
	free@u(lock, ...)
	... when any
  }
)

@script:python@
p << tests.p;
op << tests.op;
E << tests.E;
R << tests.R;
u << in_then.u;
@@
if means(E, R, op)[0] is False:
	unlock_after_failure(p, op, u)

@in_else disable neg_if, ne_if, drop_else exists@
identifier free =~ "_unlock", again =~ "_t?r?y?lock";
expression tests.lock;
position tests.i, u;
statement S;
@@
  if@i (...) S else {
	... when != again(lock, ...)
	    when != nbq_spin_takeover(lock, ...)
	free@u(lock, ...)
	... when any
  }

@script:python@
p << tests.p;
op << tests.op;
E << tests.E;
R << tests.R;
u << in_else.u;
@@
if means(E, R, op)[1] is False:
	unlock_after_failure(p, op, u)

@behind disable neg_if, ne_if, drop_else exists@
identifier free =~ "_unlock", again =~ "_t?r?y?lock";
expression tests.lock, tests.R;
position tests.i, u;
statement S, T;
@@
(
  if@i (...) S else T
|
  if@i (...) S
)
  ... when != again(lock, ...)
      when != nbq_spin_takeover(lock, ...)
      when != R
  free@u(lock, ...)

@script:python@
p << tests.p;
op << tests.op;
E << tests.E;
R << tests.R;
S << tests.S;
T << tests.T = "";
u << behind.u;
@@
failed = [branch for branch, acquired in zip((S, T), means(E, R, op)) if acquired is False]
if failed and not ELSEWHERE.search(failed[0]) and not ASSIGNMENT.search(S + T):
	unlock_after_failure(p, op, u)

@untested exists@
identifier free =~ "_unlock", op =~ "^[nrs][bap].*_t?r?y?lock", again =~ "_t?r?y?lock";
expression lock, R;
position p, u;
@@
  R = op@p(lock, ...)
  ... when != again(lock, ...)
      when != R
  free@u(lock, ...)

@script:python@
p << untested.p;
op << untested.op;
u << untested.u;
@@
if OURS.match(op):
	unlock_after_failure(p, op, u)

@loops@
identifier op =~ "^[nrs][bap].*_t?r?y?lock";
expression lock, R, E;
position p, i;
statement S;
@@
  while@i (\(E\&<+... \(op@p(lock, ...)\&R\) ...+>\)) S

@script:python@
p << loops.p;
op << loops.op;
E << loops.E;
R << loops.R;
S << loops.S;
@@
if means(E, R, op)[0] and "unlock" not in S and not ENDS_IN_JUMP.search(S):
	warn(p, "this loop goes on while %s() acquires the lock, and ends when it fails" % op)

// A jump while the lock is held, without an unlock before or after it

@held_then disable neg_if, ne_if, drop_else exists@
identifier free =~ "_unlock", l;
expression tests.lock, X;
position tests.i, g;
statement T;
@@
(
  if@i (...) {
	... when != free(lock, ...)
	    when != if (...) free(lock, ...);
	\(return@g;\|return@g X;\|goto@g l;\|break@g;\|continue@g;\)
	... when any
  } else T
|
  if@i (...) {
	... when != free(lock, ...)
	    when != if (...) free(lock, ...);
	\(return@g;\|return@g X;\|goto@g l;\|break@g;\|continue@g;\)
	... when any
  }
)

@script:python@
p << tests.p;
op << tests.op;
lock << tests.lock;
E << tests.E;
R << tests.R;
g << held_then.g;
X << held_then.X = "";
@@
if means(E, R, op)[0]:
	left_held(p, op, lock, g, X)

@held_else disable neg_if, ne_if, drop_else exists@
identifier free =~ "_unlock", l;
expression tests.lock, X;
position tests.i, g;
statement S;
@@
  if@i (...) S else {
	... when != free(lock, ...)
	    when != if (...) free(lock, ...);
	\(return@g;\|return@g X;\|goto@g l;\|break@g;\|continue@g;\)
	... when any
  }

@script:python@
p << tests.p;
op << tests.op;
lock << tests.lock;
E << tests.E;
R << tests.R;
g << held_else.g;
X << held_else.X = "";
@@
if means(E, R, op)[1]:
	left_held(p, op, lock, g, X)

@held_behind disable neg_if, ne_if, drop_else exists@
identifier free =~ "_unlock", l;
expression tests.lock, tests.R, F, X;
position tests.i, g;
statement S;
@@
  if@i (...) S
  ... when != free(lock, ...)
      when != if (...) free(lock, ...);
      when != R
(
  \(return@g;\|return@g X;\|goto@g l;\|break@g;\|continue@g;\)
|
  R = F
  ... when != free(lock, ...)
      when != if (...) free(lock, ...);
  \(return@g;\|return@g X;\|goto@g l;\|break@g;\|continue@g;\)
)

@script:python@
p << tests.p;
op << tests.op;
lock << tests.lock;
E << tests.E;
R << tests.R;
g << held_behind.g;
X << held_behind.X = "";
@@
if means(E, R, op)[1]:
	left_held(p, op, lock, g, X)

@held_certain exists@
identifier certain =~ "^nbq_.*_lock", free =~ "_unlock", l;
expression lock, X;
position p, g;
@@
  certain@p(lock, ...);
  ... when != free(lock, ...)
      when != if (...) free(lock, ...);
  \(return@g;\|return@g X;\|goto@g l;\|break@g;\|continue@g;\)

@script:python@
p << held_certain.p;
op << held_certain.certain;
lock << held_certain.lock;
g << held_certain.g;
X << held_certain.X = "";
@@
if op.startswith("nbq_") and CERTAIN.fullmatch(op):
	left_held(p, op, lock, g, X)
