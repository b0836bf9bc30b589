insmod sampler_bounded.ko
cd /sys/module/sampler_bounded/parameters
for cpu in 1 0; do
	echo "flush on CPU $cpu"
	taskset -c $cpu sh -c 'echo 1 >flush'
	grep -s . *
done
rmmod sampler_bounded
