//go:build !linux

package rig

import "syscall"

// Only Linux can tie a process to its parent; elsewhere Stop ends it.
func endsWithParent() *syscall.SysProcAttr { return nil }
