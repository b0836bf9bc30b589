insmod sampler_timeout.ko
cd /sys/module/sampler_timeout/parameters
for cpu in 1 0; do
	echo "flush on CPU $cpu"
	taskset -c $cpu sh -c 'echo 1 >flush'
	grep -s . *
done
rmmod sampler_timeout
