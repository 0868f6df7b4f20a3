package tasks

// What the tests of the engine use beside its API.
const (
	RecheckRunning = recheckRunning
	RecheckBulk    = recheckBulk
	ClaimTimeout   = claimTimeout
)

var (
	Advance     = advance
	EnsureChild = (*Engine).ensureChild
	AdvanceFrom = (*Engine).advanceFrom
)
