insmod sampler_timeout.ko
mount -t tracefs tracefs /sys/kernel/tracing
cd /sys/kernel/tracing
echo 0 >options/record-cmd
echo 1 >options/stacktrace
echo 1 >events/nbqlock/nbq_abandon/enable
taskset -c 1 sh -c 'echo 1 >/sys/module/sampler_timeout/parameters/flush'
echo 0 >events/nbqlock/nbq_abandon/enable
sed -n 's/.* \(nbq_abandon: .*\)/\1/p' trace | sort | uniq -c
grep -E '=> (device_interrupt|flush)' trace | sort | uniq -c
