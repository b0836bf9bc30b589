insmod sampler_timeout.ko
[ -d /sys/kernel/tracing/events ] || mount -t tracefs tracefs /sys/kernel/tracing
mkdir /sys/kernel/tracing/instances/tutorial
cd /sys/kernel/tracing/instances/tutorial
echo norecord-cmd >trace_options
echo stacktrace >trace_options
echo 1 >events/nbqlock/nbq_abandon/enable
taskset -c 1 sh -c 'echo 1 >/sys/module/sampler_timeout/parameters/flush'
echo 0 >events/nbqlock/nbq_abandon/enable
sed -n 's/.* \(nbq_abandon: .*\)/\1/p' trace | sort | uniq -c
grep -E '=> (device_interrupt|flush)' trace | sort | uniq -c
cd ..
rmdir tutorial
rmmod sampler_timeout
