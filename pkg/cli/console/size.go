package console

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Size is a number of bytes, with a unit or without.
type Size int64

// UnmarshalText is called by kong.
func (s *Size) UnmarshalText(text []byte) error {
	number, shift := strings.ToUpper(string(text)), 0
	for unit, bits := range map[string]int{"KB": 10, "MB": 20, "GB": 30} { //nolint:mnd // powers of two
		if before, ok := strings.CutSuffix(number, unit); ok {
			number, shift = before, bits
			break
		}
	}
	n, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || n < 0 || n > math.MaxInt64>>shift {
		return fmt.Errorf("%q is not a number of bytes; examples: 288MB, 1GB, 200000000", text)
	}
	*s = Size(n << shift)
	return nil
}

func (s Size) String() string {
	if s < 1<<20 { //nolint:mnd // a megabyte
		return fmt.Sprintf("%d KB", (s+1<<10-1)>>10) //nolint:mnd // kilobytes
	}
	return fmt.Sprintf("%d MB", s>>20) //nolint:mnd // megabytes
}
