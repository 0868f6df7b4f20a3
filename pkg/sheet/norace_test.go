//go:build !race

package sheet_test

const underRace = false
