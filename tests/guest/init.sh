#!/bin/sh
# The guest's first process: mounts, huge pages, the network card's driver, then the job; power off is the end.
# Console: the kernel and whatever goes wrong. Second serial line: results, one a line (machine.py reads them).
export PATH=/bin:/usr/sbin RUNTIME_DIRECTORY=/run
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tmpfs none /tmp
mkdir -p /dev/hugepages
chmod 755 /    # unpacked as 777, and the EAL loads no drivers from below that
stty -F /dev/ttyS1 raw
. /job/driver    # DRIVER and MODULES
for module in $MODULES; do insmod /modules/$module.ko; done
echo 64 >/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages
mount -t hugetlbfs none /dev/hugepages
for device in /sys/bus/pci/devices/*; do
    case "$(cat $device/class)" in 0x0200*) ;; *) continue ;; esac
    echo $DRIVER >$device/driver_override
    echo ${device##*/} >/sys/bus/pci/drivers_probe
done

PRIORITY=    # chrt -f 1: volleyd's threads are not preempted
say() { echo "$*" >/dev/ttyS1; }
# give NAME STATUS: what a finished volleyd left.
give() {
    sed "s/^/$1 log /" /tmp/$1.log >/dev/ttyS1
    sed "s/^/$1 line /" /tmp/$1.lines >/dev/ttyS1
    say "$1 status $2"
}
# run NAME: volleyd with /job/NAME.json to its end.
run() {
    $PRIORITY volleyd --config /job/$1.json >/tmp/$1.lines 2>/tmp/$1.log
    give $1 $?
}
# begin NAME, ..., finish: the same in two steps; its configuration is /tmp/NAME.json and may be changed.
begin() {
    running=$1
    cp /job/$1.json /tmp/$1.json
    $PRIORITY volleyd --config /tmp/$1.json >/tmp/$1.lines 2>/tmp/$1.log &
    pid=$!
}
finish() {
    wait $pid
    give $running $?
}
# await FILE PATTERN [TIMES]: until so many lines of /tmp/FILE match; gives up when volleyd has ended, or after so many looks
# that it has had its turns of the CPU meanwhile, however busy the host is: a minute or more.
await() {
    tries=0
    until [ "$(grep -c -- "$2" /tmp/$1)" -ge ${3:-1} ]; do
        tries=$((tries + 1))
        if [ $tries -gt 1000 ] || ! kill -0 $pid; then say "$running gaveup no $2 in $1"; return 1; fi
        usleep 50000
    done
}
# host WORDS: asks the other side for something and waits for nothing.
host() { say "host $*"; }

. /job/run.sh
say "guest end"
poweroff -f
