//go:build !linux

package e2e

import "syscall"

func endsWithParent() *syscall.SysProcAttr { return nil }
