//go:build !race

package interpret_test

const underRace = false
