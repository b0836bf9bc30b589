// SPDX-License-Identifier: GPL-2.0
/*
 * The lock types as parameters of a case: see lock_types.h.
 */
#include <linux/string.h>

#include "lock_types.h"

struct nbq_param nbq_types[NBQ_LOCK_TYPES] = {
#ifdef NBQ_QUEUE_LOCKS
#define NBQ_QUEUE_TYPE(X)	{ &nbq_##X##_type },
#include "queue_types_list.h"
#endif
	{ &nbq_spin_type },
};

#ifdef NBQ_QUEUE_LOCKS
struct nbq_param nbq_queue_types[NBQ_LOCK_TYPES - 1] = {
#define NBQ_QUEUE_TYPE(X)	{ &nbq_##X##_type },
#include "queue_types_list.h"
};
#endif

void nbq_type_desc(struct nbq_param *param, char *desc)
{
	strscpy(desc, param->type->name, KUNIT_PARAM_DESC_SIZE);
}
