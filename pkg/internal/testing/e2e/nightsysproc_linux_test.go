package e2e

import "syscall"

// endsWithParent ends a process with the test.
func endsWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
