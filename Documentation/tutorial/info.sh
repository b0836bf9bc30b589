for cpu in 1 0; do
	echo "flush on CPU $cpu"
	insmod sampler_info.ko
	taskset -c $cpu sh -c 'echo 1 >/sys/module/sampler_info/parameters/flush'
	rmmod sampler_info
	dmesg -c | grep -m 1 'sampler_info: error'
done
