package e2e

import "os"

// inFull reports whether the attacks run at their full strength.
func inFull() bool { return os.Getenv("USHURU_ATTACK") == "full" }

// pick returns the one for the run in full or the one for make test-long.
func pick[T any](full, short T) T {
	if inFull() {
		return full
	}
	return short
}
