package match

import (
	"testing"

	"ushuru/pkg/vehicle"
)

func TestNamesAreRelatedByWordsNotByLikeness(t *testing.T) {
	cat := smallCatalogue()
	for _, c := range []struct {
		mk, listed, label string
		want              relation
	}{
		{"TOYOTA", "Corolla Axio G", "COROLLA AXIO", same},
		{"TOYOTA", "COROLLAAXIO", "COROLLA AXIO", same},
		{"TOYOTA", "HIACE VAN", "HIACE", same},
		{"TOYOTA", "HIACE", "HIACE WAGON", form},
		{"NISSAN", "AD", "AD VAN", form},
		{"TOYOTA", "VELFIRE", "VELLFIRE", form},
		{"TOYOTA", "", "VELLFIRE", notGiven},
		{"TOYOTA", "TOYOTA", "VELLFIRE", notGiven},
		{"SUZUKI", "JIMNY", "JIMNY SIERRA", sibling},
		{"SUZUKI", "JIMNY SIERRA", "JIMNY", sibling},
		{"SUBARU", "SPORT IMPREZA", "IMPREZA SPORT", sibling},
		{"TOYOTA", "WISH (like OPA)", "OPA", sibling}, // named, but not first: never more than low
		{"TOYOTA", "BELTA", "VITZ", unknown},
		{"TOYOTA", "ALLION", "PREMIO", other},
		{"TOYOTA", "COROLLA AXIO", "COROLLA FIELDER", other},
		{"TOYOTA", "VELFIRE", "ALPHARD", other}, // a misspelt twin
		{"HONDA", "N-BOX CUSTOM", "FIT", other},
	} {
		entries, _ := cat.Of(c.mk)
		n := readName(vehicle.Car{Make: c.mk, Model: c.listed}, newIndex(entries, nil))
		if got := n.relationTo(c.label); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.listed, c.label, got, c.want)
		}
	}
}
