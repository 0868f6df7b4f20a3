package scan

import (
	"image"
	"strings"
	"testing"
)

// The decoder skips what does not belong between the segments. What stands behind it must
// not make the estimate smaller.
func TestMemoryOfAStrangeJPEG(t *testing.T) {
	t.Parallel()
	const gray = "\xff\xc0\x00\x0b\x08\x00\x10\x00\x10\x01\x01\x11\x00"
	const scan = "\xff\xda\x00\x08\x01\x01\x00\x00\x3f\x00"
	size := image.Config{Width: 16, Height: 16}
	for name, c := range map[string]struct {
		data     string
		perPixel int64
	}{
		"plain":                   {gray + scan, 1},
		"a marker without length": {"\xff\xd0\xff\xfe\xff\xfe" + strings.Repeat("x", 0xfffe-4) + gray + scan, 24},
		"a byte too many":         {gray + "x" + scan, 24},
		"no scan":                 {gray, 24},
	} {
		if got := decodingMemory(JPEG, []byte("\xff\xd8"+c.data), size); got != c.perPixel*16*16 {
			t.Errorf("%s: %d bytes for a pixel", name, got/16/16)
		}
	}
}
