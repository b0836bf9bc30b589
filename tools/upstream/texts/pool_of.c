/* A suite has a CPU of its own, the one after the last, and its only pool. */
VISIBLE_IF_KUNIT struct nbq_pool *nbq_pool_elsewhere;
EXPORT_SYMBOL_IF_KUNIT(nbq_pool_elsewhere);

/* The pool of an encoded context; it may not be set up. */
struct nbq_pool *nbq_pool_of(u16 context)
{
	unsigned int cpu = nbq_context_cpu(context);

	if (nbq_pool_elsewhere && cpu == nr_cpu_ids)
		return nbq_pool_elsewhere;
	return &per_cpu(nbq_pools, cpu)[nbq_context_level(context)];
}
EXPORT_SYMBOL_IF_KUNIT(nbq_pool_of);

