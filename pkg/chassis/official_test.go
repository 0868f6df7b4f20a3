package chassis

import (
	"os"
	"strings"
	"testing"

	"ushuru/pkg/testenv"
)

// officialSample always runs; TestOfficialDesignations reads all 2,942.
var officialSample = []string{
	"DBA-NZE141", "3BA-AGH30W", "ABA-ANH20W", "5BA-MH85S", "CBA-NCP85G", "3DA-GDJ150W", "DAA-NKE165", "6AA-MXPH10", "LDA-KE2FW",
	"5AA-ZVW51", "3CA-KF2P", "4AA-B11A", "6BA-LA650S", "4BA-HA36S", "3AA-12ET44", "EBD-S321V", "RBA-MA15S", "3BD-DR17V", "CBF-TRH200V",
	"3DF-GDH206V", "HBD-DA64V", "3BF-TRH200V", "5BD-S700V", "LDF-KDH201V", "DBF-NCP51V", "QDF-GDH201V", "ABF-SLP2L", "5BF-P02V",
	"MBA-NDERC", "AAA-GWS191", "CAA-GS450", "GBD-HA6", "5BE-NCP165V", "DBE-NCP160V", "LCA-CWEFW", "6AE-NHP160V", "3BE-NCP165V",
	"CHJ-JC2F23", "CGE-VY12", "3LA-GG3W", "3AA-CDDLAV", "CBA-253388", "3BA-12AP20", "ABA-970CWBAX", "ABA-FVDNFF",
}

func checkDesignation(t *testing.T, designation string) {
	t.Helper()
	prefix, code, _ := strings.Cut(designation, "-")
	want := Code{Raw: designation, Prefix: prefix, Code: code}
	if got, ok := Parse(designation); !ok || got != want {
		t.Errorf("Parse(%q) = %+v, %v", designation, got, ok)
	}
	got, ok := Parse(strings.ToLower(designation) + "-aexek")
	if !ok || got.Prefix != prefix || got.Code != code || got.Suffix != "AEXEK" {
		t.Errorf("%s with a version suffix: %+v, %v", designation, got, ok)
	}
}

func TestOfficialSample(t *testing.T) {
	for _, designation := range officialSample {
		checkDesignation(t, designation)
	}
}

func TestOfficialDesignations(t *testing.T) {
	data, err := os.ReadFile(testenv.Reference(t, "matching", "type_designations.txt"))
	if err != nil {
		t.Fatal(err)
	}
	n, inText := 0, 0
	for line := range strings.FieldsSeq(string(data)) {
		checkDesignation(t, line)
		if got, ok := InText("Used " + line + " for sale"); ok && got.Prefix+"-"+got.Code == line {
			inText++
		}
		n++
	}
	if n != 2942 {
		t.Errorf("read %d designations, want 2,942", n)
	}
	if n != inText {
		t.Errorf("found %d of %d inside a text", inText, n)
	}
}
