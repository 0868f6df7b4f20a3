package app

import "slices"

// Cleanup is a stack of functions that undo what was opened or started. The
// zero value is empty.
type Cleanup struct{ undo []func() }

// Add puts a function on the stack.
func (c *Cleanup) Add(undo func()) { c.undo = append(c.undo, undo) }

// Run calls the functions, the last one first, and empties the stack.
func (c *Cleanup) Run() {
	for _, undo := range slices.Backward(c.undo) {
		undo()
	}
	c.undo = nil
}
