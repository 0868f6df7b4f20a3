package render

import (
	"strconv"
	"strings"

	"ushuru/pkg/sheet"
)

// identity writes the second section: which car it is, compared with the listing.
func (w *writer) identity(mismatches []sheet.Mismatch) {
	r := w.r
	if r.House.Name != nil {
		w.say("house_"+*r.House.Basis, *r.House.Name)
	}
	w.sayIf("lot", r.Lot)
	if r.AuctionDate != nil {
		w.say("auction_date", *r.AuctionDate)
	} else if r.AuctionDateRaw != nil {
		w.say("auction_date", "「"+*r.AuctionDateRaw+"」")
	}
	w.sayIf("corner", r.House.Corner)
	w.car(&r.Vehicle)
	w.colour(&r.Vehicle)
	for _, m := range mismatches {
		sheet, listing := m.Sheet, m.Listing
		if m.Field == "colour" {
			sheet, listing = w.text("colour", m.Sheet), w.text("colour", m.Listing)
		}
		w.say("mismatch", w.text("field", m.Field), sheet, listing)
		if m.Field == "year" && m.YearBasis != "registration" {
			w.say("mismatch_year")
		}
	}
	if mismatches != nil && len(mismatches) == 0 {
		w.say("checked_same")
	}
	if r.Dates.FirstRegistration != nil {
		w.say("first_registration_note")
	}
}

func (w *writer) car(v *sheet.Vehicle) {
	switch {
	case v.NameJP != nil && v.Name != nil:
		w.say("name", *v.Name+" 「"+*v.NameJP+"」")
	case v.NameJP != nil:
		w.say("name", "「"+*v.NameJP+"」")
	case v.Name != nil:
		w.say("name", "「"+*v.Name+"」")
	}
	w.sayIf("trim", v.Trim)
	switch {
	case v.ModelCodeRaw != nil:
		w.say("model_code", *v.ModelCodeRaw)
	case v.ChassisCode != nil:
		w.say("chassis_code", *v.ChassisCode)
	}
	w.sayIf("chassis_no", v.ChassisNoMasked)
	w.sayNumber("cc", v.CC)
	w.fuel(v)
	if v.Drive != nil {
		drive, _ := sheet.WordOf("drive", *v.Drive)
		w.say("drive", drive.Text.In(w.lang))
	}
	switch {
	case v.Shift != nil:
		w.say("shift", v.Shift.In(w.lang), *v.ShiftRaw)
	case v.ShiftRaw != nil:
		w.say("shift_raw", *v.ShiftRaw)
	}
	if v.AirCon != nil {
		air, _ := sheet.WordOf("aircon", *v.AirCon)
		w.say("aircon", air.Text.In(w.lang), *v.AirCon)
	}
	w.sayNumber("seats", v.Seats)
	if v.Steering != nil {
		w.say("steering_" + *v.Steering)
	}
	if v.ImportChannel != nil {
		w.say(*v.ImportChannel)
	}
	w.sayNumber("model_year", v.ModelYear)
	if v.UseHistory != nil {
		use, _ := sheet.WordOf("use", *v.UseHistoryRaw)
		w.say("use", use.Text.In(w.lang), *v.UseHistoryRaw)
	}
	w.sayIf("dims", v.DimsCM)
	w.sayNumber("load", v.Load)
}

// fuel writes the printed fuel and the fuel of the emission prefix separately:
// sheets print petrol for hybrids.
func (w *writer) fuel(v *sheet.Vehicle) {
	name := func(fuel *string) string { return w.text("fuel", *fuel) }
	switch {
	case v.FuelPrinted != nil && v.FuelDerived != nil && *v.FuelPrinted != *v.FuelDerived:
		w.say("fuel_both", name(v.FuelPrinted), name(v.FuelDerived))
	case v.FuelPrinted != nil:
		w.say("fuel", name(v.FuelPrinted))
	case v.FuelDerived != nil:
		w.say("fuel_derived", name(v.FuelDerived))
	}
}

func (w *writer) colour(v *sheet.Vehicle) {
	name := func(colour *sheet.Text) string {
		if colour == nil {
			return w.text("say", "unknown_colour")
		}
		return colour.In(w.lang)
	}
	switch {
	case v.ColourJP == nil:
	case v.ColourChanged:
		w.say("colour_changed", name(v.OriginalColour), name(v.Colour), *v.ColourJP)
	case v.Colour != nil:
		w.say("colour", name(v.Colour), *v.ColourJP)
	default:
		w.say("colour_raw", *v.ColourJP)
	}
	w.sayIf("colour_no", v.ColourNo)
}

func yesOrNo(value bool) string {
	if value {
		return "_yes"
	}
	return "_no"
}

// equipment writes the eighth section: the equipment and the papers.
func (w *writer) equipment() {
	r := w.r
	if circled := r.Equipment.FactoryCircled; len(circled) > 0 {
		items := make([]string, len(circled))
		for i, item := range circled {
			items[i] = w.finding("item", item)
		}
		w.say("equipment", strings.Join(items, "; "))
	}
	w.notes(sheet.Equipped)
	d := &r.Dates
	switch {
	case d.ShakenUntil != nil:
		w.say("shaken", *d.ShakenUntil, *d.ShakenUntilRaw)
	case d.ShakenUntilRaw != nil:
		w.say("shaken_raw", *d.ShakenUntilRaw)
	}
	if book := r.Documents.ServiceBook; book != nil {
		w.say("book" + yesOrNo(*book))
	}
	if manual := r.Documents.Manual; manual != nil {
		w.say("manual" + yesOrNo(*manual))
	}
	if warranty := r.Documents.Warranty; warranty != nil {
		w.say("warranty" + yesOrNo(*warranty))
	}
	if yen := r.Documents.RecycleYen; yen != nil {
		w.say("recycle", thousands(*yen))
	}
	for _, item := range r.Documents.ItemsLater {
		w.say("later", item)
	}
}

// unread writes the ninth section.
func (w *writer) unread() {
	r := w.r
	for _, area := range r.Readability.UnreadableAreas {
		w.say("area", sheet.NameOf("area", area).In(w.lang))
	}
	written := map[string]bool{}
	for _, u := range r.Unreadable {
		values := []any{w.field(u.Field)}
		if u.Reason == sheet.ReadingsDiffer {
			values = append(values, w.readings(u.Readings))
		}
		if line := w.sentence(string(u.Reason), values...); !written[line] {
			written[line] = true
			w.line(line)
		}
	}
	if len(w.lines) == 0 {
		w.say("all_read")
	}
	for _, i := range r.Inferred {
		switch i.Field {
		case "dates.first_registration":
			w.say("inferred_era")
		case "mileage.unit":
			w.say("inferred_unit")
		}
	}
	if r.DroppedTexts > 0 {
		w.say("dropped", strconv.Itoa(r.DroppedTexts))
	}
	w.say("reading_note")
	for _, note := range r.AllNotes() {
		if note.Translation.In(w.lang).Source == sheet.FromMachine {
			w.say("machine_note")
			break
		}
	}
}

// ask writes the last section.
func (w *writer) ask(mismatches []sheet.Mismatch) {
	for _, question := range w.r.Questions {
		w.line(question.Text.In(w.lang))
	}
	if len(mismatches) > 0 {
		w.line(w.text("ask", "mismatch"))
	}
}
