/* The clock of all waits. A suite has its own. */
VISIBLE_IF_KUNIT u64 (*nbq_clock)(void) = ktime_get_mono_fast_ns;
EXPORT_SYMBOL_IF_KUNIT(nbq_clock);

u64 nbq_clock_ns(void)
{
	return nbq_clock();
}
EXPORT_SYMBOL_IF_KUNIT(nbq_clock_ns);

bool nbq_clock_is_fake(void)
{
	return nbq_clock != ktime_get_mono_fast_ns;
}

