package interpret

import (
	"testing"

	"ushuru/pkg/chassis"

	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/transcribe"
	"ushuru/pkg/sheet/transcribe/transcribetest"
)

func TestEraDates(t *testing.T) {
	for _, test := range []struct{ printed, want string }{
		{"H26年4月", "2014-04"},
		{"R3/5", "2021-05"},
		{"R7.12", "2025-12"},
		{"S63年1月", "1988-01"},
		{"S64/1", "1989-01"},
		{"H1/1", "1989-01"},
		{"H31年4月", "2019-04"},
		{"R1年5月", "2019-05"},
		{"令和元年6月", "2019-06"},
		{"平成26年4月", "2014-04"},
		{"R9年4月12日", "2027-04"},
		{"R9/4/12", "2027-04"},
		{"h26-4", "2014-04"},
		{"H26 年 4 月", "2014-04"},
		{"H31年5月", ""},
		{"R1年4月", ""},
		{"S64/2", ""},
		{"H26年13月", ""},
		{"H0年1月", ""},
		{"H26", ""},
		{"2014/4", "2014-04"},
		{"X26年4月", ""},
		{"", ""},
		{"H26年4月4日 5日", ""},
		{"走行", ""},
	} {
		got := ""
		if d, ok := parseEra(test.printed); ok {
			if list := d.months(); len(list) == 1 {
				got = list[0].String()
			}
		}
		if got != test.want {
			t.Errorf("%q is %q, want %q", test.printed, got, test.want)
		}
	}
}

func TestAMissingEraIsConcludedOrLeftOpen(t *testing.T) {
	for _, test := range []struct {
		code, printed, want string
		years               func(chassis.Code) (int, int)
	}{
		{"E-BNR32", "6/1", "1994-01", nil},
		{"BNR32", "6/1", "1994-01", skylineYears},
		{"BNR32", "6/1", "", nil},             // nothing tells when it was built
		{"6AA-MXPK11", "4/3", "2022-03", nil}, // Reiwa, as Heisei 4 had no such prefix
		{"DAA-ZVW30", "26/4", "2014-04", nil},
		{"DAA-ZVW30", "8/1", "", nil}, // 1996 is too early for the prefix, 2026 too late
	} {
		raw := transcribetest.Prius()
		raw.Reading.Vehicle.ModelCode, raw.Reading.Vehicle.ChassisNo = test.code, ""
		if code := test.code; code == "BNR32" {
			raw.Reading.Vehicle.ModelCode, raw.Reading.Vehicle.ChassisNo = "", code+"-0305617"
		}
		raw.Reading.Dates = transcribe.Dates{FirstRegistration: test.printed}
		raw.Second.FirstRegistration = test.printed
		r := Transcript(raw, Known{Now: november.Now, Years: test.years})
		if got := deref(r.Dates.FirstRegistration); got != test.want {
			t.Errorf("%s of %s is %q, want %q", test.printed, test.code, got, test.want)
		}
		if (test.want != "") != concluded(r, "dates.first_registration") {
			t.Errorf("%s of %s: inferred is %+v", test.printed, test.code, r.Inferred)
		}
	}
}

func TestDatesThatWereSwapped(t *testing.T) {
	for name, dates := range map[string]transcribe.Dates{
		"registered after the inspection": {FirstRegistration: "R4年4月", ShakenUntil: "H31年4月", NameChange: ""},
		"registered after the auction":    {FirstRegistration: "R9年4月", ShakenUntil: "R9年5月", NameChange: ""},
	} {
		r := read(func(raw *transcribe.Transcript) {
			raw.Reading.Dates, raw.Second.FirstRegistration = dates, dates.FirstRegistration
		})
		if r.Dates.FirstRegistration != nil || why(r, "dates.first_registration") != sheet.Contradicts || !raised(r, sheet.FlagReadingsDiffer) {
			t.Errorf("%s: %+v", name, r.Unreadable)
		}
	}
}

func TestAuctionDays(t *testing.T) {
	for printed, want := range map[string]string{
		"2026/9/14": "2026-09-14", "2026年9月14日": "2026-09-14", "R8年9月14日": "2026-09-14", "9/14": "", "2026/13/1": "", "R8/2/30": "",
	} {
		if got := deref(auctionDay(printed)); got != want {
			t.Errorf("%s is %q, want %q", printed, got, want)
		}
	}
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
