//go:build !linux

package redistest

import "syscall"

// Only Linux can tie a process to its parent; elsewhere the reaper ends the
// shared servers, and t.Cleanup the others.
func dieWithParent() *syscall.SysProcAttr { return nil }

func ownGroup() *syscall.SysProcAttr { return nil }
