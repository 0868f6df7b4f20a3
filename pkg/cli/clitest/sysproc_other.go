//go:build !linux

package clitest

import "syscall"

// Only Linux can tie a process to its parent; elsewhere t.Cleanup ends it.
func endsWithParent() *syscall.SysProcAttr { return nil }
