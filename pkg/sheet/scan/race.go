//go:build race

package scan

// slowness is how many times longer everything takes with the race detector.
const slowness = 10
