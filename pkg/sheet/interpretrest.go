package sheet

import (
	"slices"
)

// equipment is what is circled, by our table, and what the seller claims.
func (in *interpreter) equipment() {
	e := &in.report.Equipment
	for i, printed := range in.raw.Sheet.Equipment {
		if i == maxEquipment {
			break
		}
		jp := in.printed("equipment.factory_circled", printed)
		if jp == "" || len([]rune(jp)) > 20 {
			continue
		}
		finding := Finding{JP: jp, Severity: NotKnown}
		if p, found := glossary().byKey[fold(jp)]; found && p.finding() {
			finding.Meaning, finding.Severity = &p.text, p.weight
		}
		e.FactoryCircled = append(e.FactoryCircled, finding)
	}
	for _, list := range [][]Note{in.report.SellerPoints, in.report.SellerNotes} {
		for i := range list {
			if list[i].Kind == Option {
				e.SellerClaims = append(e.SellerClaims, list[i].JP)
			}
		}
	}
	in.report.Glass = in.circled("glass", in.raw.Sheet.GlassCircled, glassWords)
	in.report.Inside = in.circled("inside", in.raw.Sheet.InsideCircled, insideWords)
}

// circled are words of a printed checklist. Only the listed ones count.
func (in *interpreter) circled(name string, printed, known []string) []Finding {
	found := []Finding{}
	for _, jp := range printed {
		if jp = in.listed(name, jp, known); jp == "" || slices.ContainsFunc(found, func(f Finding) bool { return f.JP == jp }) {
			continue
		}
		w, _ := wordOf(name, jp)
		found = append(found, Finding{jp, &w.text, Severity(w.value)})
	}
	return found
}

// documents are the papers; a paper that is neither 有 nor 無 is not known.
func (in *interpreter) documents() {
	d, raw := &in.report.Documents, &in.raw.Sheet.Documents
	d.ServiceBook = in.yesNo("documents.service_book", raw.ServiceBook)
	d.Manual = in.yesNo("documents.manual", raw.Manual)
	d.Warranty = in.yesNo("documents.warranty", raw.Warranty)
	d.RecycleYen = in.number("documents.recycle_yen", raw.Recycle, 0, 99_999, "円")
	for i, item := range raw.Later {
		if jp := in.text("documents.items_later", item); jp != nil && i < maxLater {
			d.ItemsLater = append(d.ItemsLater, *jp)
		}
	}
}

func (in *interpreter) yesNo(field, printed string) *bool {
	switch in.listed(field, printed, yesNo) {
	case "有":
		return new(true)
	case "無":
		return new(false)
	}
	return nil
}
