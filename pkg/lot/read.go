package lot

import (
	"regexp"
	"strconv"
	"strings"
	"time"

	"ushuru/pkg/chassis"
	"ushuru/pkg/listing/claim"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/match/naming"
)

// reading is a row that is being read.
type reading struct {
	Row

	columns *Columns
	cells   []string
	written []writtenPrice // the prices as the table has them
}

// Read reads a row of the table.
func (c *Columns) Read(cells []string) Row {
	r := &reading{columns: c, cells: cells}
	r.URL, r.Reference, r.ModelBody = r.whole(fieldURL), r.whole(fieldReference), r.whole(fieldModelBody)
	if r.Reference == "" {
		r.Reference = r.whole(fieldLot)
	}
	if c.results && !c.described && r.URL != "" {
		return r.Row // the rest was read from the page
	}
	r.PriceCandidates = isYes(r.text(fieldCandidates))
	for field, i := range c.index {
		if name, ok := strings.CutPrefix(field, fieldKnown); ok && cells[i] != "" {
			if r.Known == nil {
				r.Known = map[string]string{}
			}
			r.Known[name] = cells[i]
		}
	}
	r.readCode()
	r.readNames()
	r.readYear()
	r.readEngine()
	r.readVolume()
	r.readPrices()
	return r.Row
}

// text returns the cell of a field; "" when it has a placeholder such as "-".
func (r *reading) text(field string) string {
	if i, ok := r.columns.index[field]; ok {
		return claim.ValueOf(r.cells[i])
	}
	return ""
}

// whole returns the cell of a field as text does, but however long it is: the beginning
// of a URL is another URL.
func (r *reading) whole(field string) string {
	if r.text(field) == "" {
		return ""
	}
	return strings.TrimSpace(r.cells[r.columns.index[field]])
}

func (r *reading) problem(field, value string) *Problem {
	r.Problems = append(r.Problems, Problem{Column: r.columns.all[r.columns.index[field]].Header, Value: value, Field: field})
	return &r.Problems[len(r.Problems)-1]
}

// modified marks a modified car behind its code.
var modified = regexp.MustCompile(`\s*\(?(?:改|カイ|ｶｲ)\)?$`)

// readCode reads the chassis code, or takes it from a frame number.
func (r *reading) readCode() {
	r.ModelCode = chassis.Normalise(modified.ReplaceAllString(r.text(fieldModelCode), ""))
	if r.ModelCode != "" {
		return
	}
	cell := modified.ReplaceAllString(r.text(fieldChassis), "")
	if cell == "" {
		return
	}
	code, isFrame := chassis.FromFrame(cell)
	if codes := chassis.ParseAll(cell); !isFrame && len(codes) == 1 {
		code = codes[0]
		r.ModelCode = cell
	}
	if isFrame {
		r.ModelCode = code.Code
	}
	if code.Code == "" {
		r.problem(fieldChassis, cell)
	}
}

// readNames reads make, model, grade, fuel and body. A make may stand before the name of
// the model, or be known by the chassis code alone.
func (r *reading) readNames() {
	r.Make, r.Model = r.text(fieldMake), naming.LatinName(r.text(fieldModel))
	first, rest, two := strings.Cut(chassis.Normalise(r.text(fieldModel)), " ")
	if facts.IsMake(first) && two && (r.Make == "" || sameMake(first, r.Make)) {
		r.Make, r.Model = first, naming.LatinName(rest)
	}
	if r.Make == "" {
		code, _ := chassis.Parse(r.ModelCode)
		r.Make = facts.MakeOf(code.Code, r.Model)
	}
	if r.Make != "" {
		r.Make = chassis.AuthorityMake(r.Make)
	}
	r.Version = r.text(fieldVersion)
	if score.MatchString(strings.ToUpper(r.Version)) {
		r.Version = "" // a column "Grade" with the inspector's grades
	}
	r.Fuel, r.BodyType = word(fieldFuel, r.text(fieldFuel)), word(fieldBody, r.text(fieldBody))
}

func sameMake(a, b string) bool { return chassis.AuthorityMake(a) == chassis.AuthorityMake(b) }

// score is an inspector's grade, which some lists call the grade.
var score = regexp.MustCompile(`^(?:[0-6](?:\.[05])?|R[A-C]?|\*{1,3})$`)

// word returns what a Japanese word means; other words as they are.
func word(kind, text string) string {
	if meant, ok := words[[2]string{kind, key(text)}]; ok {
		return meant
	}
	return text
}

// readYear reads the year that is nearest to that of manufacture.
func (r *reading) readYear() {
	for _, field := range []struct{ name, basis string }{
		{fieldYear, "manufacture"}, {fieldRegistration, "registration"}, {fieldModelYear, "model"},
	} {
		cell := r.text(field.name)
		if cell == "" {
			continue
		}
		year, ok := claim.ParseDatedYear(cell)
		if !ok {
			year, ok = serialYear(cell)
		}
		if !ok {
			r.problem(field.name, cell)
			continue
		}
		r.Year, r.YearBasis = year, field.basis
		if field.name == fieldYear {
			if basis := r.text(fieldYearBasis); basis != "" {
				r.YearBasis = strings.ToLower(basis)
			}
		}
		return
	}
}

// serial is a day as spreadsheets count them, where the format of the cell was lost.
var serial = regexp.MustCompile(`^\d{5}(?:\.0+)?$`)

// serialYear returns the year of such a day.
func serialYear(cell string) (year int, ok bool) {
	if !serial.MatchString(cell) {
		return 0, false
	}
	days, err := strconv.Atoi(cell[:5])
	year = time.Date(1899, 12, 30+days, 0, 0, 0, 0, time.UTC).Year()
	return year, err == nil && year >= claim.MinYear && year <= claim.MaxYear()
}

func (r *reading) readEngine() {
	cell := r.text(fieldEngine)
	if strings.Trim(cell, "0. cCL") == "" {
		return
	}
	cc, ok := claim.ParseEngine(cell)
	if !ok {
		r.problem(fieldEngine, cell)
	}
	r.EngineCC = cc
}

func (r *reading) readVolume() {
	cell := r.text(fieldM3)
	if strings.Trim(cell, "0.") == "" {
		return
	}
	volume, ok := claim.ParseVolume(strings.ToLower(cell))
	if !ok {
		r.problem(fieldM3, cell)
	}
	r.M3 = volume
}

// isYes reports a cell that says yes.
func isYes(cell string) bool {
	switch strings.ToLower(cell) {
	case "true", "yes", "1", "ndiyo", "はい":
		return true
	}
	return false
}
