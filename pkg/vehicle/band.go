package vehicle

import (
	"regexp"
	"strconv"
	"strings"
)

var numberInBand = regexp.MustCompile(`\d{1,6}`)

// BandNumbers returns the numbers of an engine capacity band in cc as the authority writes it,
// at most three: two of "1001 - 1500 CC", one of "ABOVE 2500 CC".
func BandNumbers(band string) (numbers []int) {
	for _, digits := range numberInBand.FindAllString(strings.ReplaceAll(band, ",", ""), 3) {
		n, _ := strconv.Atoi(digits) // six at most
		numbers = append(numbers, n)
	}
	return numbers
}
