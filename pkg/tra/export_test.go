package tra

import "context"

// StoredJSON returns the JSON of an answer's value in Redis.
func StoredJSON(value []byte) ([]byte, bool) { return storedJSON(value) }

// WriteList writes a list in the session of a context.
func WriteList(ctx context.Context, write func() error) error {
	return sessionOf(ctx).writeAnswer(callYears, write)
}

// WriteTax writes a tax in the session of a context.
func WriteTax(ctx context.Context, write func() error) error {
	return sessionOf(ctx).writeAnswer(callDetails, write)
}
