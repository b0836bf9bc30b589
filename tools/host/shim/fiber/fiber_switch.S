/* SPDX-License-Identifier: GPL-2.0 */
/*
 * void fiber_switch(void **from, void *to): push what the caller may expect to find
 * again, keep the stack pointer in *from, and go on with the stack "to".
 */
	.text
	.globl	fiber_switch
	.type	fiber_switch, @function
fiber_switch:
	pushq	%rbp
	pushq	%rbx
	pushq	%r12
	pushq	%r13
	pushq	%r14
	pushq	%r15
	movq	%rsp, (%rdi)
	movq	%rsi, %rsp
	popq	%r15
	popq	%r14
	popq	%r13
	popq	%r12
	popq	%rbx
	popq	%rbp
	ret
	.size	fiber_switch, . - fiber_switch
	.section .note.GNU-stack, "", @progbits
