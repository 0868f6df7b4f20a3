package interpret

import (
	"slices"

	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/transcribe"
)

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
