package redistest

import "syscall"

// dieWithParent lets the kernel kill the process when this one ends, however
// it ends.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// ownGroup keeps an interrupt at the terminal from the process.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
