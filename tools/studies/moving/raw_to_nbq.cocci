// SPDX-License-Identifier: GPL-2.0
/// Moves one raw_spinlock_t, or spinlock_t, to struct nbq_spin: what is mechanical about it.
/// tools/studies/moving/convert runs it, adds the #include and lists what is left. Alone, with "none"
/// for what is not meant, a field of a struct or a static lock:
///	spatch --sp-file raw_to_nbq.cocci -D S=pch_gpio -D F=spinlock -D L=none gpio-pch.c
///	spatch --sp-file raw_to_nbq.cocci -D S=none -D F=none -D L=list_lock vmd.c
//
// An operation that nbq_spin does not have, and a lock whose type is not seen, are left alone.

// Declarations and initialisers

@@
identifier virtual.S, virtual.F;
@@
 struct S {
	...
(
-	raw_spinlock_t F;
+	struct nbq_spin F;
|
-	spinlock_t F;
+	struct nbq_spin F;
)
	...
 };

@@
identifier virtual.L;
declarer name DEFINE_RAW_SPINLOCK, DEFINE_SPINLOCK, DEFINE_NBQ_SPIN;
@@
(
- DEFINE_RAW_SPINLOCK(L);
+ DEFINE_NBQ_SPIN(L);
|
- DEFINE_SPINLOCK(L);
+ DEFINE_NBQ_SPIN(L);
)

@@
identifier virtual.L;
@@
(
- raw_spinlock_t L;
+ struct nbq_spin L;
|
- spinlock_t L;
+ struct nbq_spin L;
)

// Operations: those of both types have the same names behind "nbq_"

@use@
identifier virtual.S, virtual.F, virtual.L;
struct S *p;
struct S s;
// Without groups, whose signs differ between builds of spatch.
identifier op =~ "^r?a?w?_?spin_";
position at;
@@
  op@at(\(&p->F\|&s.F\|&L\), ...)

@script:python used@
op << use.op;
new;
@@
form = op.replace("raw_", "").replace("spin_", "").replace("lock_init", "init")
coccinelle.new = "nbq_spin_" + form
cocci.include_match(form in """init lock lock_irq lock_irqsave lock_bh lock_nested
	lock_irqsave_nested unlock unlock_irq unlock_irqrestore unlock_bh trylock trylock_irq
	trylock_irqsave trylock_bh is_locked is_contended""".split())

@@
identifier use.op;
identifier used.new;
position use.at;
@@
- op@at
+ new
  (...)

// Guards

@guarded@
identifier virtual.S, virtual.F, virtual.L;
struct S *p;
struct S s;
iterator name scoped_guard;
identifier kind =~ "^r?a?w?_?spinlock";
position at;
statement body;
@@
(
  guard(kind@at)(\(&p->F\|&s.F\|&L\));
|
  scoped_guard(kind@at, \(&p->F\|&s.F\|&L\)) body
)

@script:python guards@
kind << guarded.kind;
new;
@@
coccinelle.new = "nbq_" + kind.replace("raw_", "").replace("lock", "")
cocci.include_match(coccinelle.new in """nbq_spin nbq_spin_irq nbq_spin_irqsave nbq_spin_bh
	nbq_spin_try nbq_spin_irqsave_try""".split())

@@
identifier guarded.kind;
identifier guards.new;
position guarded.at;
@@
- kind@at
+ new
