package redistest

import "syscall"

// dieWithParent makes the kernel kill the process when this one ends for any reason.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// ownGroup shields the process from an interrupt at the terminal.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
