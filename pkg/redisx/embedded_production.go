//go:build production

package redisx

// HasEmbedded reports whether the program has the embedded Redis. A production build
// has none, nor the modules that it is made of.
const HasEmbedded = false

type embedded struct{}

func startEmbedded() (*embedded, error) { return nil, ErrEmbeddedRefused }

func (*embedded) endpoint() endpoint { return endpoint{} }

func (*embedded) stop() {}
