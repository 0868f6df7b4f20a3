//go:build race

package interpret_test

// underRace is when drawing and scaling pictures takes ten times as long.
const underRace = true
