package interpret

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/transcribe"
)

// The shapes of printed values, after width folding.
var (
	lotPattern       = regexp.MustCompile(`^[0-9A-Z-]{1,12}$`)
	modelCodePattern = regexp.MustCompile(`^[0-9A-Z]{1,3}-[A-Z0-9]{2,10}$`)
	chassisNoPattern = regexp.MustCompile(`^[A-Z0-9]{2,8}-[0-9]{3,7}$`)
	numberPattern    = regexp.MustCompile(`^\d{1,7}$`)
	dimsPattern      = regexp.MustCompile(`^(\d{2,4})\s*[×XxＸ*]\s*(\d{2,4})\s*[×XxＸ*]\s*(\d{2,4})\s*(?:CM|cm)?$`)
	colourNoPattern  = regexp.MustCompile(`^[0-9A-Z/-]{1,10}$`)
	shapePattern     = regexp.MustCompile(`^[0-9A-Z/ ]{1,8}$`)
)

// vehicle reads the data of the car.
func (in *interpreter) vehicle() {
	v, raw := &in.report.Vehicle, &in.raw.Reading.Vehicle
	v.NameJP = in.text("vehicle.name_jp", raw.NameJP)
	if name := in.text("vehicle.name", raw.Name); name != nil && !sheet.IsJapanese(*name) {
		v.Name = name
	}
	v.Trim = in.text("vehicle.trim", raw.Trim)
	v.DoorsShape = in.shaped("vehicle.doors_shape", raw.DoorsShape, shapePattern)
	in.codes()
	v.CC = in.number("vehicle.cc", raw.CC, 0, 9999, "CC", "cc")
	in.fuel()
	if drive := in.printed("vehicle.drive", raw.Drive); drive != "" {
		v.Drive = in.wordValue("vehicle.drive", "drive", drive)
	}
	if v.ShiftRaw = in.text("vehicle.shift_raw", raw.Shift); v.ShiftRaw != nil {
		if shift, found := sheet.WordOf("shift", *v.ShiftRaw); found {
			v.Shift = &shift.Text
		}
	}
	if air := in.printed("vehicle.air_conditioning", raw.AirCon); air != "" {
		v.AirCon = in.wordValue("vehicle.air_conditioning", "aircon", air)
	}
	v.Seats = in.number("vehicle.seats", raw.Seats, 1, 60, "人", "名")
	v.Steering = intended(in.listed("vehicle.steering", raw.Steering, transcribe.Steerings), "右", "right", "左", "left")
	channel := in.listed("vehicle.import_channel", raw.ImportChannel, transcribe.Channels)
	v.ImportChannel = intended(channel, "ディーラー", "dealer", "並行", "parallel")
	v.ModelYear = in.number("vehicle.model_year", raw.ModelYear, 1950, in.known.Now.Year()+1, "年")
	if v.UseHistoryRaw = in.text("vehicle.use_history_raw", raw.Use); v.UseHistoryRaw != nil {
		v.UseHistory = in.wordValue("vehicle.use_history", "use", *v.UseHistoryRaw)
	}
	v.ColourNo = in.shaped("vehicle.colour_no", raw.ColourNo, colourNoPattern)
	v.InteriorColour = in.text("vehicle.interior_colour", raw.InteriorColour)
	v.Load = in.number("vehicle.load", raw.Load, 1, 99_999, "KG", "kg")
	if dims := in.printed("vehicle.dims_cm", raw.Dims); dims != "" {
		if size := dimsPattern.FindStringSubmatch(dims); size != nil {
			v.DimsCM = new(strings.Join(size[1:], "×"))
		} else {
			in.unreadable("vehicle.dims_cm", sheet.NotAllowed)
		}
	}
	in.colour()
}

// codes reads the model code and the chassis number. They must name the same car.
func (in *interpreter) codes() {
	v, raw := &in.report.Vehicle, &in.raw.Reading.Vehicle
	if code := strings.ToUpper(in.printed("vehicle.model_code_raw", raw.ModelCode)); code != "" {
		code = chassis.Normalise(code)
		if modelCodePattern.MatchString(code) {
			prefix, bare, _ := strings.Cut(code, "-")
			v.ModelCodeRaw, v.EmissionPrefix, v.ChassisCode = &code, &prefix, &bare
			in.car = chassis.Code{Raw: code, Prefix: prefix, Code: bare}
		} else {
			in.unreadable("vehicle.model_code_raw", sheet.NotAllowed)
		}
	}
	number := chassis.Normalise(in.printed("vehicle.chassis_no_masked", raw.ChassisNo))
	if number == "" {
		return
	}
	if !chassisNoPattern.MatchString(number) {
		in.unreadable("vehicle.chassis_no_masked", sheet.NotAllowed)
		return
	}
	code, serial, _ := strings.Cut(number, "-")
	switch {
	case v.ChassisCode == nil:
		v.ChassisCode = &code
		in.car = chassis.Code{Raw: code, Code: code}
		in.inferred("vehicle.chassis_code", "from the chassis number; the model code was not read")
	case !chassis.StemMatch(code, *v.ChassisCode):
		in.unreadable("vehicle.chassis_no_masked", sheet.Contradicts)
		return
	}
	v.ChassisNoMasked = new(code + "-" + serial[:2] + strings.Repeat("*", len(serial)-2))
}

// fuel reads the printed fuel, and derives the fuel from the emission prefix.
func (in *interpreter) fuel() {
	v := &in.report.Vehicle
	if fuel := in.printed("vehicle.fuel_printed", in.raw.Reading.Vehicle.Fuel); fuel != "" {
		v.FuelPrinted = in.wordValue("vehicle.fuel_printed", "fuel", fuel)
	}
	derived := map[chassis.Power]string{
		chassis.Petrol: "petrol", chassis.Diesel: "diesel", chassis.Hybrid: "hybrid", chassis.DieselHybrid: "hybrid",
		chassis.Electric: "electric",
	}[in.car.Power()]
	if derived != "" && chassis.IsPrefix(in.car.Prefix) {
		v.FuelDerived = &derived
		in.inferred("vehicle.fuel_derived", "from the emission prefix "+in.car.Prefix)
	}
}

// colour reads the colour, when both readings agree on its characters.
func (in *interpreter) colour() {
	v := &in.report.Vehicle
	colour := in.printed("vehicle.colour_jp", in.raw.Reading.Vehicle.Colour)
	if again := in.raw.Second; again != nil {
		second, _ := printedValue(again.Colour)
		if areDifferent(colour, second) {
			in.unreadable("vehicle.colour_jp", sheet.ReadingsDiffer, colour, second)
			return
		}
	}
	if colour == "" {
		return
	}
	v.ColourJP = &colour
	parts := sheet.SplitColours(colour)
	present := parts[len(parts)-1]
	if folded := sheet.Fold(present); len(parts) == 1 && strings.Contains(folded, "色替") {
		v.ColourChanged = true
		present = strings.NewReplacer("色替", "", "(", "", ")", "").Replace(folded)
	}
	if len(parts) == 2 {
		v.ColourChanged = true
		if original, found := sheet.WordOf("colour", parts[0]); found {
			v.OriginalColour = &original.Text
		}
	}
	if word, found := sheet.WordOf("colour", present); found {
		v.Colour = &word.Text
	}
}

// areDifferent reports whether two readings of one value differ. It is false when
// neither reading found a value.
func areDifferent(first, second string) bool {
	if first == "" && (second == "" || second == sheet.NotPrinted) {
		return false
	}
	return sheet.Fold(first) != sheet.Fold(second)
}

// number reads a whole number within bounds. A unit may follow it.
func (in *interpreter) number(field, value string, minimum, maximum int, units ...string) *int {
	value = in.printed(field, value)
	for _, unit := range units {
		value = strings.TrimSuffix(value, unit)
	}
	value = strings.ReplaceAll(strings.TrimSpace(value), ",", "")
	if value == "" {
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil || !numberPattern.MatchString(value) || n < minimum || n > maximum {
		in.unreadable(field, sheet.NotAllowed)
		return nil
	}
	return &n
}

// shaped reads a value of a shape, in capitals.
func (in *interpreter) shaped(field, value string, shape *regexp.Regexp) *string {
	value = strings.ToUpper(in.printed(field, value))
	switch {
	case value == "":
		return nil
	case !shape.MatchString(value):
		in.unreadable(field, sheet.NotAllowed)
		return nil
	}
	return &value
}

// wordValue returns the value of a printed word.
func (in *interpreter) wordValue(field, list, printed string) *string {
	w, found := sheet.WordOf(list, printed)
	if !found {
		in.unreadable(field, sheet.NotAllowed)
		return nil
	}
	return &w.Value
}

// intended returns the meaning of one of two words.
func intended(printed, one, oneMeans, other, otherMeans string) *string {
	switch printed {
	case one:
		return &oneMeans
	case other:
		return &otherMeans
	}
	return nil
}

// equipment reads the circled words, and the options that the seller claims.
func (in *interpreter) equipment() {
	e := &in.report.Equipment
	for i, printed := range in.raw.Reading.Equipment {
		if i == transcribe.MaxEquipment {
			in.unreadable("equipment", sheet.NotAllowed) // the rest is cut
			break
		}
		jp := in.printed("equipment.factory_circled", printed)
		if jp == "" || len([]rune(jp)) > 20 {
			continue
		}
		finding := sheet.Finding{JP: jp, Severity: sheet.NotKnown}
		if p, found := sheet.LookUpPhrase(jp); found && p.IsFinding() {
			finding.Meaning, finding.Severity = &p.Text, p.Severity
		}
		e.FactoryCircled = append(e.FactoryCircled, finding)
	}
	for _, list := range [][]sheet.Note{in.report.SellerPoints, in.report.SellerNotes} {
		for i := range list {
			if list[i].Kind == sheet.Option {
				e.SellerClaims = append(e.SellerClaims, list[i].JP)
			}
		}
	}
	in.report.Glass = in.circled("glass", in.raw.Reading.GlassCircled, transcribe.GlassWords)
	in.report.Inside = in.circled("inside", in.raw.Reading.InsideCircled, transcribe.InsideWords)
}

// circled reads the circled words of a printed checklist. A word that is not on
// the list does not count.
func (in *interpreter) circled(name string, printed []string, known transcribe.List) []sheet.Finding {
	found := []sheet.Finding{}
	for _, jp := range printed {
		jp = in.listed(name, jp, known)
		if jp == "" || slices.ContainsFunc(found, func(f sheet.Finding) bool { return f.JP == jp }) {
			continue
		}
		w, _ := sheet.WordOf(name, jp)
		found = append(found, sheet.Finding{JP: jp, Meaning: &w.Text, Severity: sheet.Severity(w.Value)})
	}
	return found
}

// documents reads the papers. A paper with neither 有 nor 無 is not known.
func (in *interpreter) documents() {
	d, raw := &in.report.Documents, &in.raw.Reading.Documents
	d.ServiceBook = in.yesNo("documents.service_book", raw.ServiceBook)
	d.Manual = in.yesNo("documents.manual", raw.Manual)
	d.Warranty = in.yesNo("documents.warranty", raw.Warranty)
	d.RecycleYen = in.number("documents.recycle_yen", raw.Recycle, 0, 99_999, "円")
	for i, item := range raw.Later {
		if jp := in.text("documents.items_later", item); jp != nil && i < transcribe.MaxLater {
			d.ItemsLater = append(d.ItemsLater, *jp)
		}
	}
}

func (in *interpreter) yesNo(field, printed string) *bool {
	switch in.listed(field, printed, transcribe.YesNo) {
	case "有":
		return new(true)
	case "無":
		return new(false)
	}
	return nil
}
