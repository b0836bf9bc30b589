# SPDX-License-Identifier: GPL-2.0
"""What a guest is given: a packed file system, with its first process."""

import gzip
from pathlib import Path
import stat

from guest.programs import busybox

INIT = r"""#!/bin/busybox sh
# Runs as the guest's first process.
/bin/busybox mkdir -p /proc /sys /dev /tmp /root /sbin /usr/bin /usr/sbin /etc
/bin/busybox --install -s
export PATH=/bin:/sbin:/usr/bin:/usr/sbin HOME=/root
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
mount -t debugfs debugfs /sys/kernel/debug
exec >@LINE@ 2>&1 </dev/null
# While it is open: some lines forget their settings when they are closed.
stty -F @LINE@ raw -echo
echo "@WORD@ begun"
for module in @MODULES@; do
	insmod /lib/modules/$module || {
		echo "@WORD@ failed insmod $module"
		@LEAVE@
		sleep 1000
	}
done
echo "@WORD@ ready"
cd /root
sh /root/.command
status=$?
printf '\n@WORD@ exit %d\n' $status
sync
@LEAVE@
sleep 1000
"""


def cpio_entry(number, name, mode, content=b"", device=(0, 0)):
    """One file of a "newc" archive."""
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, *device,
              len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08X" % field for field in fields)
    head += name.encode() + b"\0"
    head += b"\0" * (-len(head) % 4)
    return head + content + b"\0" * (-len(content) % 4)


def initramfs(files):
    """A packed file system of {name: (content, mode)}."""
    parents = {str(parent) for name in files for parent in Path(name).parents}
    folders = sorted(parents - {"."} | {"dev"})
    entries = [(name, stat.S_IFDIR | 0o755, b"", (0, 0)) for name in folders]
    entries.append(("dev/console", stat.S_IFCHR | 0o600, b"", (5, 1)))
    entries += [(name, stat.S_IFREG | mode, content, (0, 0))
                for name, (content, mode) in files.items()]
    entries.append(("TRAILER!!!", 0, b"", (0, 0)))
    archive = b"".join(cpio_entry(number, *entry)
                       for number, entry in enumerate(entries, 1))
    return gzip.compress(archive, 1)


def guest_files(machine, command, modules, extra, word):
    init = INIT
    for mark, text in (("@LINE@", machine.line), ("@WORD@", word),
                       ("@LEAVE@", machine.leave),
                       ("@MODULES@", " ".join(modules.get("load", [])))):
        init = init.replace(mark, text)
    files = {"init": (init.encode(), 0o755),
             "bin/busybox": (busybox(machine.processor), 0o755),
             "root/.command": (command.encode() + b"\n", 0o644)}
    for name, content in modules.get("files", {}).items():
        files[f"lib/modules/{name}"] = (content, 0o644)
    for name, (content, mode) in (extra or {}).items():
        files[f"root/{name}"] = (content, mode)
    return files
