package rig

import "syscall"

// endsWithParent makes the kernel kill a process when this one ends for any reason.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
