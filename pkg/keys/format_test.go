package keys

import (
	"strings"
	"testing"
)

func TestChecksumIsCRC32InBase62(t *testing.T) {
	t.Parallel()
	// CRC32("123456789") is 0xCBF43926, the check value of every CRC table.
	if got := checksum("123456789"); got != "3jZRME" {
		t.Errorf("checksum = %q, want 3jZRME", got)
	}
	if got := checksum(""); got != "000000" {
		t.Errorf("checksum of nothing = %q, want 000000", got)
	}
}

func TestRandomTextUsesTheWholeAlphabetEvenly(t *testing.T) {
	t.Parallel()
	const each = 10_000
	text := randomText(each * len(alphabet))
	if len(text) != each*len(alphabet) {
		t.Fatalf("length %d", len(text))
	}
	for _, c := range alphabet {
		// Eight standard deviations. Bytes taken modulo 62 without care would
		// make the first eight characters appear 12,100 times each.
		if n := strings.Count(text, string(c)); n < each-800 || n > each+800 {
			t.Errorf("%q appears %d times", c, n)
		}
	}
}

func FuzzWellFormed(f *testing.F) {
	f.Add(generate())
	f.Add("ush_")
	f.Add("ush_" + strings.Repeat("0", 38))
	f.Fuzz(func(t *testing.T, plain string) {
		if wellFormed(plain) && prefix+plain[4:36]+checksum(plain[4:36]) != plain {
			t.Errorf("%q is taken for a key", plain)
		}
	})
}
