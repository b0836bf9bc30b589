#include <bpf/bpf_helpers.h>
