# SPDX-License-Identifier: GPL-2.0
"""The packages where the firmware has Secure Boot: refused, the key enrolled, used."""

from ci.common import clean_guest, done

PASSWORD = "once"		# that MokManager asks for
# Debian's kernels lock themselves down where the firmware has Secure Boot.
STATE = """
modprobe efivarfs || true
mount -t efivarfs efivarfs /sys/firmware/efi/efivars
mount -t securityfs securityfs /sys/kernel/security
mokutil --sb-state
cat /sys/kernel/security/lockdown
"""
REQUEST = f"""{STATE}
modprobe nbqlock || echo @refused
dmesg | grep -i 'loading of .* is rejected'
printf '{PASSWORD}\\n{PASSWORD}\\n' | mokutil --import /var/lib/dkms/mok.pub
echo @requested
"""
USE = """{state}
mokutil --test-key /var/lib/dkms/mok.pub || true
modprobe nbqlock_stress
modprobe nbq_example
dmesg | grep nbq_example
insmod {unsigned} || echo @refused
nbq stress --locks nbq_spin --rounds 1 --seconds 0.3 --no-alone || echo @stress $?
nbq top --interval 1 --count 1 && echo @watched
rmmod nbq_example nbqlock_stress nbqlock
echo @unloaded
"""
LOCKED_DOWN = (r"^SecureBoot enabled$", r"\[integrity\]")


def cases(name, machine, boot, unsigned):
    """boot(script) runs a script in the machine; unsigned is the path of a module there."""
    name = f"{name}: Secure Boot"
    request = boot(REQUEST)
    yield done(f"{name}: the modules are refused, the key's enrolment is requested",
               request.output, request.status, *LOCKED_DOWN,
               r"'?nbqlock'?: Key was rejected by service\n@refused",
               "module with unavailable key is rejected", "^@requested$")
    machine.enroll(PASSWORD)
    use = boot(USE.format(state=STATE, unsigned=unsigned))
    for what, *wanted in (
            ("MokManager has enrolled the key", *LOCKED_DOWN, "is already enrolled"),
            ("the example times out and acquires",
             r"timed out after \d+ ns, held by CPU \d(.|\n)*acquired"),
            ("an unsigned module is refused",
             r"(Key was rejected by service|Operation not permitted)\n@refused"),
            ("nbq stress says that the kernel is locked down",
             r"the kernel is locked down(.|\n)*^@stress 2$"),
            ("nbq top works", r"^nbq top: (.|\n)*^@watched$"),
            ("the modules are unloaded", "^@unloaded$")):
        yield done(f"{name}: {what}", use.output, use.status, *wanted)
    yield clean_guest(name, request, use)
