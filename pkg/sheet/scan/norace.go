//go:build !race

package scan

const slowness = 1
