//go:build !linux

package night

import "syscall"

func endsWithParent() *syscall.SysProcAttr { return nil }
