insmod sampler_timeout.ko
for cpu in 1 0; do
	taskset -c $cpu sh -c 'echo 1 >/sys/module/sampler_timeout/parameters/flush'
done
grep -E '^(timeouts|deadlocks) ' /sys/kernel/debug/nbqlock/total
rmmod sampler_timeout
