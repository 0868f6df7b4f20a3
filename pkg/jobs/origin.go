package jobs

import "context"

// Origin is where a job comes from: what its log lines and its trace are found by.
type Origin struct {
	Request string `json:"request,omitempty"` // id of the request that caused it
	Trace   string `json:"trace,omitempty"`   // W3C traceparent of that; "" when it is not traced
}

type originKey struct{}

// WithOrigin returns a context whose new jobs have an origin.
func WithOrigin(ctx context.Context, o Origin) context.Context {
	return context.WithValue(ctx, originKey{}, o)
}

// OriginOf returns the origin of the new jobs of a context.
func OriginOf(ctx context.Context) Origin {
	o, _ := ctx.Value(originKey{}).(Origin)
	return o
}
