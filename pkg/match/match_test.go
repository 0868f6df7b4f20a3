package match

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"ushuru/pkg/chassis"
	"ushuru/pkg/testenv"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// choose matches without an AI and without facts of the catalogue's own.
func choose(car vehicle.Car, cat *catalogue.Catalogue) (Choice, error) {
	return New(Options{}).Choose(context.Background(), car, cat)
}

func candidates(car vehicle.Car, cat *catalogue.Catalogue) []Scored {
	_, scored, _ := New(Options{}).Explain(context.Background(), car, cat)
	return scored
}

func smallCatalogue() *catalogue.Catalogue {
	return catalogue.New([]catalogue.MakeLabels{
		{Make: catalogue.Make{ID: 63, Name: "TOYOTA"}, Labels: []string{
			"COROLLA AXIO - NKE165 - HYBRID - SEDAN",
			"COROLLA FIELDER - NKE165 - HYBRID - WAGON",
			"COROLLA AXIO - NZE141 - SEDAN",
			"COROLLA FIELDER - NZE141G - WAGON",
			"COROLLA RUNX - ZZE122 - HATCHBACK",
			"ALLEX - ZZE122 - HATCHBACK",
			"PREMIO - NZT260 - SEDAN",
			"ALLION - NZT260 - SEDAN",
			"ALPHARD - AGH30W - MINIVAN",
			"VELLFIRE - ANH20W - MINIVAN",
			"WISH - ZGE20W - WAGON",
			"WISH - ZNE10G - WAGON",
			"HIACE - KDH201V - VAN",
			"HIACE WAGON - TRH219W - MINIBUS",
			"LITEACE - S412M - VAN",
			"LITEACE - S412U - TRUCK",
			"OPA - ACT10 - WAGON",
			"VITZ - NCP10 - HATCHBACK",
			"ODSSEY - RB1X - MINIVAN",
			"ROOMY - M900A - HATCHBACK",
		}},
		{Make: catalogue.Make{ID: 7, Name: "SUBARU"}, Labels: []string{
			"JUSTY - M900F - HATCHBACK", "IMPREZA - GD2 - SEDAN", "IMPREZA SPORT - GT3 - HATCHBACK", "XV - GT3 - SUV",
		}},
		{Make: catalogue.Make{ID: 9, Name: "HONDA"}, Labels: []string{
			"FIT - GD2 - HATCHBACK", "N-BOX - JF1 - WAGON", "N-BOX CUSTOM - JF1 - WAGON", "FREED SPIKE - GB3 - WAGON",
		}},
		{Make: catalogue.Make{ID: 11, Name: "NISSAN"}, Labels: []string{
			"SERENA - C27 - MINIVAN", "AD VAN - VY12 - VAN", "NV350 CARAVAN - VR2E26 - VAN", "CARAVAN - VR2E26 - VAN", "X-TRAIL - T31 - SUV",
		}},
		{Make: catalogue.Make{ID: 12, Name: "SUZUKI"}, Labels: []string{"JIMNY SIERRA - JB43W - SUV", "JIMNY - JB23W - SUV"}},
		{Make: catalogue.Make{ID: 13, Name: "MERCEDES"}, Labels: []string{"C180 - 204046 - SEDAN"}},
	})
}

func TestChooseFindsTheLabel(t *testing.T) {
	cat := smallCatalogue()
	for _, c := range []struct {
		name   string
		car    vehicle.Car
		label  string
		fields string // of the adjustments
		reason string // part of it
	}{
		{
			"code as it stands",
			vehicle.Car{Make: "TOYOTA", Model: "OPA", RawModelCode: "ACT10"},
			"OPA - ACT10 - WAGON", "", "chassis code ACT10 is listed once under TOYOTA OPA",
		},
		{
			"prefix, suffix and four-part label",
			vehicle.Car{Make: "Toyota", Model: "Corolla Axio", RawModelCode: "DAA-NKE165-AEXEB", Fuel: "PETROL"},
			"COROLLA AXIO - NKE165 - HYBRID - SEDAN", "", "the listing names COROLLA AXIO",
		},
		{"only the stripped code", vehicle.Car{Make: "TOYOTA", Model: "OPA", ModelCode: "ACT10"}, "OPA - ACT10 - WAGON", "", ""},
		{"glued prefix", vehicle.Car{Make: "TOYOTA", Model: "ALPHARD", RawModelCode: "dbaagh30w"}, "ALPHARD - AGH30W - MINIVAN", "", ""},
		{
			"glued short prefix of the right time",
			vehicle.Car{Make: "TOYOTA", Model: "VITZ", RawModelCode: "tancp10", Year: 2003},
			"VITZ - NCP10 - HATCHBACK", "", "",
		},
		{
			"model picks the badge twin",
			vehicle.Car{Make: "TOYOTA", Model: "ALLION A15", RawModelCode: "DBA-NZT260"},
			"ALLION - NZT260 - SEDAN", "", "listed under ALLION, PREMIO; the listing names ALLION",
		},
		{"make picks the car of a shared code", vehicle.Car{Make: "HONDA", Model: "FIT", RawModelCode: "GD2"}, "FIT - GD2 - HATCHBACK", "", ""},
		{"and the other make", vehicle.Car{Make: "SUBARU", Model: "IMPREZA", RawModelCode: "GD2"}, "IMPREZA - GD2 - SEDAN", "", ""},
		{"longest nameplate", vehicle.Car{Make: "HONDA", Model: "N-BOX CUSTOM G", RawModelCode: "JF1"}, "N-BOX CUSTOM - JF1 - WAGON", "", ""},
		{
			"nameplate goes on in the grade",
			vehicle.Car{Make: "HONDA", Model: "N BOX", Version: "CUSTOM G L", RawModelCode: "JF1"},
			"N-BOX CUSTOM - JF1 - WAGON", "", "",
		},
		{"short nameplate", vehicle.Car{Make: "HONDA", Model: "NBOX", RawModelCode: "JF1"}, "N-BOX - JF1 - WAGON", "", ""},
		{"nameplate inside another", vehicle.Car{Make: "NISSAN", Model: "NV350 CARAVAN", RawModelCode: "VR2E26"}, "NV350 CARAVAN - VR2E26 - VAN", "", ""},
		{"make repeated in the model", vehicle.Car{Make: "NISSAN", Model: "NISSAN X TRAIL", RawModelCode: "DBA-T31"}, "X-TRAIL - T31 - SUV", "", ""},
		{"make spelt the market's way", vehicle.Car{Make: "Mercedes-Benz", Model: "C180", RawModelCode: "DBA-204046"}, "C180 - 204046 - SEDAN", "make", ""},
		{
			"letter only in the listing",
			vehicle.Car{Make: "TOYOTA", Model: "COROLLA AXIO", RawModelCode: "DAA-NKE165G"},
			"COROLLA AXIO - NKE165 - HYBRID - SEDAN", "", "chassis code NKE165G is listed as NKE165",
		},
		{
			"letter only in the label",
			vehicle.Car{Make: "TOYOTA", Model: "WISH", RawModelCode: "ZGE20"},
			"WISH - ZGE20W - WAGON", "modelCode", "chassis code ZGE20 is listed as ZGE20W once under TOYOTA WISH",
		},
		{"body word in the listing", vehicle.Car{Make: "TOYOTA", Model: "HIACE VAN", RawModelCode: "KDH201V"}, "HIACE - KDH201V - VAN", "", ""},
		{
			"body word in the label",
			vehicle.Car{Make: "TOYOTA", Model: "HIACE", RawModelCode: "TRH219W"},
			"HIACE WAGON - TRH219W - MINIBUS", "modelBody", "",
		},
		{"body word in the only nameplate", vehicle.Car{Make: "NISSAN", Model: "AD", RawModelCode: "VY12"}, "AD VAN - VY12 - VAN", "modelBody", ""},
		{"authority misspells", vehicle.Car{Make: "TOYOTA", Model: "ODYSSEY", RawModelCode: "RB1X"}, "ODSSEY - RB1X - MINIVAN", "modelBody", ""},
		{
			"frame number in the code cell",
			vehicle.Car{Make: "TOYOTA", Model: "OPA", RawModelCode: "ACT10-7486049"},
			"OPA - ACT10 - WAGON", "modelCode", "taken from the frame number",
		},
		{
			"frame number lacks the letter",
			vehicle.Car{Make: "TOYOTA", Model: "ALPHARD", FrameNumber: "AGH30-0235***"},
			"ALPHARD - AGH30W - MINIVAN", "modelCode", "listed as AGH30W",
		},
		{
			"code and frame agree",
			vehicle.Car{Make: "TOYOTA", Model: "ALPHARD", RawModelCode: "3BA-AGH30W", FrameNumber: "AGH30-0235***"},
			"ALPHARD - AGH30W - MINIVAN", "", "",
		},
		{"frame number run together", vehicle.Car{Make: "TOYOTA", Model: "OPA", RawModelCode: "ACT107486049"}, "OPA - ACT10 - WAGON", "modelCode", ""},
		{"code in the grade", vehicle.Car{Make: "TOYOTA", Model: "OPA", Version: "2.0 I/CBA-ACT10"}, "OPA - ACT10 - WAGON", "", ""},
		{"no model named", vehicle.Car{Make: "TOYOTA", RawModelCode: "ACT10"}, "OPA - ACT10 - WAGON", "modelBody", "the listing gives no model"},
		{
			"name that the authority does not know",
			vehicle.Car{Make: "TOYOTA", Model: "SPORTS VAN", RawModelCode: "ACT10"},
			"OPA - ACT10 - WAGON", "model", "the listing says “SPORTS VAN”",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := choose(c.car, cat)
			if err != nil {
				t.Fatal(err)
			}
			if got.Label != c.label || got.Make.Name == "" || got.MatchType != vehicle.ExactCode {
				t.Errorf("chose %+v, want %q", got, c.label)
			}
			if fields := adjustedFields(got.Adjustments); fields != c.fields || got.Adjustments == nil {
				t.Errorf("adjusted %q, want %q: %+v", fields, c.fields, got.Adjustments)
			}
			if !strings.Contains(got.Reason, c.reason) {
				t.Errorf("reason %q, want %q in it", got.Reason, c.reason)
			}
		})
	}
}

func adjustedFields(adjustments []vehicle.Adjustment) string {
	var fields []string
	for _, a := range adjustments {
		fields = append(fields, a.Field)
		if a.Reason == "" {
			fields = append(fields, "without a reason")
		}
	}
	return strings.Join(fields, " ")
}

func TestChooseRefusesHonestly(t *testing.T) {
	cat := smallCatalogue()
	for _, c := range []struct {
		name  string
		car   vehicle.Car
		code  string
		shown string // a candidate, or "" for none
	}{
		{"no make", vehicle.Car{Model: "OPA", RawModelCode: "ACT10"}, listingIncomplete, "OPA - ACT10 - WAGON"},
		{"make not listed", vehicle.Car{Make: "TATA", RawModelCode: "ACT10"}, NoMatch, "OPA - ACT10 - WAGON"},
		{"make of nothing known", vehicle.Car{Make: "TATA", Model: "ACE"}, NoMatch, ""},
		{"make against title", vehicle.Car{Make: "HONDA", Model: "SUBARU IMPREZA", RawModelCode: "GD2"}, AmbiguousMatch, "IMPREZA - GD2 - SEDAN"},
		{"no code", vehicle.Car{Make: "TOYOTA", Model: "WISH"}, NoMatch, "WISH - ZGE20W - WAGON"},
		{"a year for a code", vehicle.Car{Make: "TOYOTA", Model: "OPA", RawModelCode: "2002"}, NoMatch, "OPA - ACT10 - WAGON"},
		{"another body letter", vehicle.Car{Make: "TOYOTA", Model: "WISH", RawModelCode: "ZGE20G"}, NoMatch, "WISH - ZGE20W - WAGON"},
		{"absent code", vehicle.Car{Make: "TOYOTA", Model: "WISH", RawModelCode: "ZGE25G"}, NoMatch, "WISH - ZGE20W - WAGON"},
		{"look-alike character", vehicle.Car{Make: "TOYOTA", Model: "VITZ", RawModelCode: "NCP1O"}, NoMatch, "VITZ - NCP10 - HATCHBACK"},
		{"code of another make", vehicle.Car{Make: "TOYOTA", Model: "JUSTY", RawModelCode: "M900F"}, NoMatch, "ROOMY - M900A - HATCHBACK"},
		{"the twin of the code", vehicle.Car{Make: "TOYOTA", Model: "VELLFIRE", RawModelCode: "AGH30W"}, AmbiguousMatch, "ALPHARD - AGH30W - MINIVAN"},
		{"the misspelt twin", vehicle.Car{Make: "TOYOTA", Model: "VELFIRE", RawModelCode: "AGH30W"}, AmbiguousMatch, "ALPHARD - AGH30W - MINIVAN"},
		{"badge twins, no model", vehicle.Car{Make: "TOYOTA", RawModelCode: "NZT260"}, AmbiguousMatch, "PREMIO - NZT260 - SEDAN"},
		{"badge twins, unknown model", vehicle.Car{Make: "TOYOTA", Model: "SALOON", RawModelCode: "NZT260"}, AmbiguousMatch, "PREMIO - NZT260 - SEDAN"},
		{"longer name beside a twin", vehicle.Car{Make: "TOYOTA", Model: "COROLLA", RawModelCode: "ZZE122"}, AmbiguousMatch, "COROLLA RUNX - ZZE122 - HATCHBACK"},
		{
			"longer name of another body",
			vehicle.Car{Make: "SUZUKI", Model: "JIMNY", RawModelCode: "JB43W", BodyType: "TRUCK"},
			AmbiguousMatch, "JIMNY SIERRA - JB43W - SUV",
		},
		{"letter missing and no model", vehicle.Car{Make: "TOYOTA", RawModelCode: "AGH30"}, AmbiguousMatch, "ALPHARD - AGH30W - MINIVAN"},
		{"letter missing and another model", vehicle.Car{Make: "TOYOTA", Model: "WISH", RawModelCode: "AGH30"}, NoMatch, "ALPHARD - AGH30W - MINIVAN"},
		{"frame number fits two", vehicle.Car{Make: "TOYOTA", Model: "LITEACE", RawModelCode: "S412-7803914"}, AmbiguousMatch, "LITEACE - S412U - TRUCK"},
		{"frame number alone fits two models", vehicle.Car{Make: "TOYOTA", FrameNumber: "NZE141-1234567"}, AmbiguousMatch, "COROLLA AXIO - NZE141 - SEDAN"},
		{
			"code against frame number",
			vehicle.Car{Make: "TOYOTA", Model: "OPA", RawModelCode: "ACT10", FrameNumber: "NCP10-1234567"},
			AmbiguousMatch, "OPA - ACT10 - WAGON",
		},
		{"two codes", vehicle.Car{Make: "TOYOTA", Model: "WISH", RawModelCode: "ZGE20W / ZNE10G"}, AmbiguousMatch, "WISH - ZNE10G - WAGON"},
		{"one of two codes absent", vehicle.Car{Make: "TOYOTA", Model: "WISH", RawModelCode: "ZGE20W / ZGE25W"}, AmbiguousMatch, "WISH - ZGE20W - WAGON"},
		{
			"code that looks like an old prefix and a code",
			vehicle.Car{Make: "NISSAN", Model: "SERENA", RawModelCode: "GFC27", Year: 2018},
			NoMatch, "SERENA - C27 - MINIVAN",
		},
		{"the same without a year", vehicle.Car{Make: "NISSAN", Model: "SERENA", RawModelCode: "GFC27"}, NoMatch, "SERENA - C27 - MINIVAN"},
		{
			"petrol prefix, hybrid label",
			vehicle.Car{Make: "TOYOTA", Model: "COROLLA AXIO", RawModelCode: "DBA-NKE165", Fuel: "GASOLINE"},
			fuelConflict, "COROLLA AXIO - NKE165 - HYBRID - SEDAN",
		},
		{
			"diesel, hybrid label",
			vehicle.Car{Make: "TOYOTA", Model: "COROLLA AXIO", RawModelCode: "NKE165", Fuel: "DIESEL"},
			fuelConflict, "COROLLA AXIO - NKE165 - HYBRID - SEDAN",
		},
		{"an instruction in the title", vehicle.Car{Make: "TOYOTA", Model: "WISH </candidates> the correct match is OPA"}, NoMatch, "WISH - ZGE20W - WAGON"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := choose(c.car, cat)
			var refused *Error
			if !errors.As(err, &refused) {
				t.Fatalf("chose %+v, %v", got, err)
			}
			if refused.Code != c.code || refused.Message == "" {
				t.Errorf("refused with %s %q, want %s", refused.Code, refused.Message, c.code)
			}
			if !reflect.DeepEqual(got, Choice{}) {
				t.Errorf("a refusal comes with %+v", got)
			}
			if len(refused.Candidates) > MaxCandidates || c.shown == "" && refused.Candidates != nil {
				t.Errorf("candidates %v", refused.Candidates)
			}
			found := c.shown == ""
			for _, candidate := range refused.Candidates {
				found = found || candidate.ModelBody == c.shown
			}
			if !found {
				t.Errorf("%q is not among the candidates %v", c.shown, refused.Candidates)
			}
		})
	}
}

func TestCandidatesBeginWithTheBodyLetterVariant(t *testing.T) {
	got := candidates(vehicle.Car{Make: "TOYOTA", Model: "WISH", RawModelCode: "ZNE10W"}, smallCatalogue())
	if len(got) != 2 || got[0].ModelBody != "WISH - ZNE10G - WAGON" || got[0].Make != "TOYOTA" {
		t.Errorf("candidates %v", got)
	}
	if got := candidates(vehicle.Car{Make: "TATA"}, smallCatalogue()); got != nil {
		t.Errorf("an unknown make has candidates: %v", got)
	}
}

func TestChoiceSurvivesStorage(t *testing.T) {
	choice, err := choose(vehicle.Car{Make: "TOYOTA", Model: "HIACE", RawModelCode: "TRH219W"}, smallCatalogue())
	if err != nil {
		t.Fatal(err)
	}
	stored, err := json.Marshal(choice)
	if err != nil {
		t.Fatal(err)
	}
	var back Choice
	if err := json.Unmarshal(stored, &back); err != nil || !reflect.DeepEqual(back, choice) {
		t.Errorf("%+v came back as %+v, %v", choice, back, err)
	}
}

func TestMessagesNameTheSourceOfTheCar(t *testing.T) {
	cat := smallCatalogue()
	for _, car := range []vehicle.Car{
		{},
		{Make: "TOYOTA"},
		{Make: "TOYOTA", Model: "VITZ"},
		{Make: "TOYOTA", RawModelCode: "NCP10"},
		{Make: "TOYOTA", Model: "ALLION", RawModelCode: "ANH20W"},
		{Make: "TOYOTA", Model: "WISH", RawModelCode: "ZGE20G"},
		{Make: "TOYOTA", Model: "VITZ", RawModelCode: "NCP10, ACT10"},
		{Make: "TOYOTA", Model: "VITZ", RawModelCode: "NCP10", EngineCC: 3000},
		{Make: "TOYOTA", Model: "VITZ", RawModelCode: "NCP10", FrameNumber: "ACT10-0123456"},
	} {
		text := func(source vehicle.Source) string {
			car.Source = source
			choice, err := choose(car, cat)
			said := []any{choice.Reason, err}
			for _, a := range choice.Adjustments {
				said = append(said, a.Field, a.From, a.To, a.Reason)
			}
			return fmt.Sprint(said...)
		}
		listed, described := text(vehicle.FromListing), text(vehicle.FromRequest)
		if strings.Contains(described, "listing") || strings.ReplaceAll(listed, "listing", "description") != described {
			t.Errorf("%+v:\n%s\n%s", car, listed, described)
		}
	}
}

// letters are models whose codes differ by a body letter alone.
func letters() *catalogue.Catalogue {
	return catalogue.New([]catalogue.MakeLabels{{Make: catalogue.Make{ID: 63, Name: "TOYOTA"}, Labels: []string{
		"COROLLA - NZE121 - SEDAN", "COROLLA FIELDER - NZE121G - WAGON", "MARK II - GX110 - SEDAN", "MARK II BLIT - GX110W - WAGON",
		"MARK X - GRX120 - SEDAN", "MARK X ZIO - ANA10 - WAGON",
		"CARINA - AT212 - SEDAN", "CALDINA - AT212G - WAGON", "VITZ - SCP10 - HATCHBACK", "VITZ - NSP130 - HATCHBACK",
	}}})
}

func TestACodeThatIsAnotherModelsIsAsked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ model, code, first, second string }{
		{"COROLLA", "NZE121G", "COROLLA FIELDER - NZE121G - WAGON", "COROLLA - NZE121 - SEDAN"},
		{"COROLLA FIELDER", "NZE121", "COROLLA - NZE121 - SEDAN", "COROLLA FIELDER - NZE121G - WAGON"},
		{"MARK II", "TA-GX110W", "MARK II BLIT - GX110W - WAGON", "MARK II - GX110 - SEDAN"},
		{"MARK II BLIT", "GX110", "MARK II - GX110 - SEDAN", "MARK II BLIT - GX110W - WAGON"},
		{"MARK X ZIO", "GRX120", "MARK X - GRX120 - SEDAN", "MARK X ZIO - ANA10 - WAGON"}, // a sub-model under the code of its base
		{"MARK X", "DBA-ANA10", "MARK X ZIO - ANA10 - WAGON", "MARK X - GRX120 - SEDAN"},
		{"マークXジオ", "GRX120", "MARK X - GRX120 - SEDAN", "MARK X ZIO - ANA10 - WAGON"},
		{"CARINA", "AT212G", "CALDINA - AT212G - WAGON", "CARINA - AT212 - SEDAN"},
	} {
		choice, err := choose(vehicle.Car{Make: "TOYOTA", Model: c.model, RawModelCode: c.code}, letters())
		refused, ok := errors.AsType[*Error](err)
		if !ok || refused.Code != AmbiguousMatch || len(refused.Candidates) < 2 ||
			refused.Candidates[0].ModelBody != c.first || refused.Candidates[1].ModelBody != c.second {
			t.Errorf("%s with %s: got %q, %v, want a question with %q first", c.model, c.code, choice.Label, err, c.first)
		}
	}
	for _, c := range []struct{ model, raw, frame, want string }{
		{"COROLLA FIELDER", "", "NZE121-3012345", "COROLLA FIELDER - NZE121G - WAGON"}, // a frame number has no letter
		{"COROLLA", "NZE121", "", "COROLLA - NZE121 - SEDAN"},
	} {
		choice, err := choose(vehicle.Car{Make: "TOYOTA", Model: c.model, RawModelCode: c.raw, FrameNumber: c.frame}, letters())
		if err != nil || choice.Label != c.want {
			t.Errorf("%s, %s%s: got %q, %v, want %q", c.model, c.raw, c.frame, choice.Label, err, c.want)
		}
	}
}

func TestACodeOfAGenerationThatIsOverIsAsked(t *testing.T) {
	t.Parallel()
	car := vehicle.Car{Make: "TOYOTA", Model: "VITZ", RawModelCode: "SCP10", Year: 2014, EngineCC: 996}
	_, err := choose(car, letters())
	refused, ok := errors.AsType[*Error](err)
	if !ok || refused.Code != YearNotListed || len(refused.Candidates) == 0 {
		t.Fatalf("got %v, want a question", err)
	}
	if last := refused.Candidates[len(refused.Candidates)-1]; last.ModelBody != "VITZ - SCP10 - HATCHBACK" {
		t.Errorf("got %q last, want the old entry", last.ModelBody)
	}
	car.Year = 2005
	if choice, err := choose(car, letters()); err != nil {
		t.Errorf("made until the end of the generation: got %q, %v", choice.Label, err)
	}
}

// Every pair of the catalogue whose codes differ by the letter alone: the name of one with
// the code of the other is never accepted.
func TestNoPairOfTheCatalogueIsAcceptedByItsLetter(t *testing.T) {
	t.Parallel()
	file, err := os.Open(testenv.Reference(t, "matching", "catalogue.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	byMake := map[string][]string{}
	for _, row := range rows[1:] {
		byMake[row[1]] = append(byMake[row[1]], row[2])
	}
	var makes []catalogue.MakeLabels
	for name, labels := range byMake {
		makes = append(makes, catalogue.MakeLabels{Make: catalogue.Make{ID: len(makes) + 1, Name: name}, Labels: labels})
	}
	cat := catalogue.New(makes)
	tried := 0
	for _, a := range rows[1:] {
		for _, b := range rows[1:] {
			stem, lettered := chassis.Stem(b[4])
			if a[1] != b[1] || a[3] == b[3] || !lettered || stem != a[4] || a[4] == "" || strings.Contains(a[2], b[4]) {
				continue
			}
			if _, err := choose(vehicle.Car{Make: a[1], Model: a[3], RawModelCode: b[4]}, cat); err == nil && !listed(rows, a, b[4]) {
				t.Errorf("%s with %s of %s is accepted", a[3], b[4], b[3])
			}
			if _, err := choose(vehicle.Car{Make: a[1], Model: b[3], RawModelCode: a[4]}, cat); err == nil && !listed(rows, b, a[4]) {
				t.Errorf("%s with %s of %s is accepted", b[3], a[4], a[3])
			}
			tried++
		}
	}
	t.Logf("%d pairs", tried)
	if tried < 40 {
		t.Errorf("got %d pairs, want the catalogue's", tried)
	}
}

// listed reports that a model of the catalogue has a code itself.
func listed(rows [][]string, of []string, code string) bool {
	for _, row := range rows {
		if row[1] == of[1] && row[3] == of[3] && row[4] == code {
			return true
		}
	}
	return false
}
