// SPDX-License-Identifier: GPL-2.0
/// Moves one raw_spinlock_t, or spinlock_t, to struct nbq_spin: what is mechanical about it.
/// tools/moving/convert runs it, adds the #include and lists what is left. Alone, with "none"
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

@@
identifier virtual.S, virtual.F, virtual.L;
struct S *p;
struct S s;
@@
(
- raw_spin_lock_init
+ nbq_spin_init
|
- spin_lock_init
+ nbq_spin_init
)
  (\(&p->F\|&s.F\|&L\))

// Operations

@use@
identifier virtual.S, virtual.F, virtual.L;
struct S *p;
struct S s;
identifier op;
position at;
@@
  op@at(\(&p->F\|&s.F\|&L\), ...)

@@
position use.at;
@@
(
- raw_spin_lock@at
+ nbq_spin_lock
|
- raw_spin_lock_irq@at
+ nbq_spin_lock_irq
|
- raw_spin_lock_irqsave@at
+ nbq_spin_lock_irqsave
|
- raw_spin_lock_bh@at
+ nbq_spin_lock_bh
|
- raw_spin_lock_nested@at
+ nbq_spin_lock_nested
|
- raw_spin_lock_irqsave_nested@at
+ nbq_spin_lock_irqsave_nested
|
- raw_spin_unlock@at
+ nbq_spin_unlock
|
- raw_spin_unlock_irq@at
+ nbq_spin_unlock_irq
|
- raw_spin_unlock_irqrestore@at
+ nbq_spin_unlock_irqrestore
|
- raw_spin_unlock_bh@at
+ nbq_spin_unlock_bh
|
- raw_spin_trylock@at
+ nbq_spin_trylock
|
- raw_spin_trylock_irq@at
+ nbq_spin_trylock_irq
|
- raw_spin_trylock_irqsave@at
+ nbq_spin_trylock_irqsave
|
- raw_spin_trylock_bh@at
+ nbq_spin_trylock_bh
|
- raw_spin_is_locked@at
+ nbq_spin_is_locked
|
- raw_spin_is_contended@at
+ nbq_spin_is_contended
)
  (...)

// Those of spinlock_t have the same names behind "nbq_".
@spin@
identifier virtual.S, virtual.F, virtual.L;
struct S *p;
struct S s;
identifier op = {spin_lock, spin_lock_irq, spin_lock_irqsave, spin_lock_bh, spin_lock_nested,
	spin_lock_irqsave_nested, spin_unlock, spin_unlock_irq, spin_unlock_irqrestore, spin_unlock_bh,
	spin_trylock, spin_trylock_irq, spin_trylock_irqsave, spin_trylock_bh, spin_is_locked,
	spin_is_contended};
position at;
@@
  op@at(\(&p->F\|&s.F\|&L\), ...)

@@
identifier spin.op;
position spin.at;
fresh identifier new = "nbq_" ## op;
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
identifier kind;
position at;
statement body;
@@
(
  guard(kind@at)(\(&p->F\|&s.F\|&L\));
|
  scoped_guard(kind@at, \(&p->F\|&s.F\|&L\)) body
)

@@
position guarded.at;
@@
(
- raw_spinlock@at
+ nbq_spin
|
- raw_spinlock_irq@at
+ nbq_spin_irq
|
- raw_spinlock_irqsave@at
+ nbq_spin_irqsave
|
- raw_spinlock_bh@at
+ nbq_spin_bh
|
- raw_spinlock_try@at
+ nbq_spin_try
|
- raw_spinlock_irqsave_try@at
+ nbq_spin_irqsave_try
|
- spinlock@at
+ nbq_spin
|
- spinlock_irq@at
+ nbq_spin_irq
|
- spinlock_irqsave@at
+ nbq_spin_irqsave
|
- spinlock_bh@at
+ nbq_spin_bh
|
- spinlock_try@at
+ nbq_spin_try
|
- spinlock_irqsave_try@at
+ nbq_spin_irqsave_try
)
