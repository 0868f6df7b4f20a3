package pack

import (
	"bytes"
	"os"
	"testing"
)

// What an earlier version packed can still be read, and takes more room.
func TestWhatWasPackedWithTheFirstDictionaryComesBack(t *testing.T) {
	t.Parallel()
	estimate, err := os.ReadFile("../../api/testdata/estimate.json")
	if err != nil {
		t.Fatal(err)
	}
	earlier := packerOf(commonID, common).EncodeAll(estimate, nil)
	if back, err := Unpack(earlier); err != nil || !bytes.Equal(back, estimate) {
		t.Errorf("an estimate of the first dictionary: %v", err)
	}
	now := Pack(estimate)
	if back, err := Unpack(now); err != nil || !bytes.Equal(back, estimate) || len(now) > len(earlier)*2/3 {
		t.Errorf("%d bytes, before %d: %v", len(now), len(earlier), err)
	}
}
