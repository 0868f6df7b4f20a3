package clitest

import "syscall"

// endsWithParent makes the kernel kill the process when this one ends for any reason.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
