// SPDX-License-Identifier: GPL-2.0
/// Prints where a file attempts a spinlock_t or raw_spinlock_t, and what stands around it: facts, a
/// line of JSON each, which tools/studies/moving/attempts.py judges. Alone:
///	spatch --very-quiet --no-includes --sp-file attempts.cocci nmi.c

@initialize:python@
@@
import json

OPERATIONS = """spin_trylock spin_trylock_irq spin_trylock_irqsave spin_trylock_bh
	raw_spin_trylock raw_spin_trylock_irq raw_spin_trylock_irqsave raw_spin_trylock_bh
	uart_port_trylock uart_port_trylock_irqsave""".split()

def fact(kind, position, text):
	p = position[0]
	print(json.dumps([kind, [int(p.line), int(p.column)],
		[int(p.line_end), int(p.column_end)], p.current_element, text]))

@attempt@
identifier op =~ "trylock";
position p;
@@
  op@p(...)

@script:python here@
op << attempt.op;
p << attempt.p;
fn;
@@
coccinelle.fn = p[0].current_element
cocci.include_match(op in OPERATIONS)
if op in OPERATIONS:
	fact("attempt", p, op)

// What calls the functions with attempts

@call@
identifier here.fn;
position p;
@@
  fn@p(...)

@script:python@
fn << here.fn;
p << call.p;
@@
fact("call", p, fn)

// Functions that a panic, an oops or a crash calls

@handler@
identifier name, fn;
position p;
@@
(
  struct kmsg_dumper name@p = { .dump = fn, };
|
  struct pstore_info name@p = { .write = fn, };
)

@script:python@
fn << handler.fn;
p << handler.p;
@@
fact("handler", p, fn)

@notified@
identifier name =~ "panic", fn;
position p;
@@
  struct notifier_block name@p = { .notifier_call = fn, };

@script:python@
fn << notified.fn;
p << notified.p;
@@
fact("handler", p, fn)

// Loops, by the text of statements, since SmPL has no do-while; branches

@around@
identifier here.fn;
statement S;
position p;
@@
  fn(...) { <... S@p ...> }

@script:python@
S << around.S;
p << around.p;
@@
fact("statement", p, str(S))

@branch@
identifier here.fn;
expression E;
statement S, T;
position p;
@@
  fn(...) {
	<...
(
	if (E) S@p else T
|
	if (E) S@p
)
	...>
  }

@script:python@
E << branch.E;
p << branch.p;
@@
fact("then", p, str(E))

@other@
identifier here.fn;
expression E;
statement S, T;
position p;
@@
  fn(...) { <... if (E) S else T@p ...> }

@script:python@
E << other.E;
p << other.p;
@@
fact("else", p, str(E))
