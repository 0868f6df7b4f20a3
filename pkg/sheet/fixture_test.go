package sheet

import (
	"time"

	"ushuru/pkg/chassis"
)

// november is when the tests read their sheets.
var november = Known{Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)}

// prius is what a model says of an ordinary, invented sheet.
func prius() Raw {
	none := RawClarity{
		"clear", "clear", "clear", "clear", "clear", "clear", "clear", "clear", "clear", "clear",
	}
	return Raw{
		Gate: Gate{
			Kind: kindSheet, Anchors: []string{"評価点", "型式", "走行"}, IsAuctionSheet: true, FilledIn: true, MakesSense: true,
			Readability: "full", UnreadableAreas: []string{},
		},
		Sheet: Reading{
			House: RawHouse{"USS", "printed", "小型"}, Lot: "40123", AuctionDate: "2026/9/14",
			Vehicle: RawVehicle{
				NameJP: "プリウス", Trim: "S", DoorsShape: "5D", ModelCode: "DAA-ZVW30", ChassisNo: "ZVW30-1512345", CC: "1790",
				Fuel: "ガソリン", Drive: "2WD", Shift: "IAT", AirCon: "AAC", Seats: "5", Steering: NotPrinted, ImportChannel: NotPrinted,
				Colour: "パール", ColourNo: "070", InteriorColour: "グレー",
			},
			Dates:     RawDates{"H26年4月", "R9年4月", "R8年10月20日"},
			Mileage:   RawMileage{"087654", "km", NotPrinted},
			Grades:    RawGrades{"4", "C", "B"},
			Repair:    NotPrinted,
			Equipment: []string{"PS", "PW", "ナビ", "エアB"},
			Notes: []RawNote{
				{sellerPoints, "1オーナー", "info", "equipment", "one owner", "mmiliki mmoja"},
				{sellerNotes, "社外ナビ", "option", "equipment", "aftermarket navigation", ""},
				{inspectorNotes, "エンジン異音", "defect", "mechanical", "engine noise", "mlio wa injini"},
				{inspectorNotes, "Fバンパー下キズ", "defect", "outside", "scratch under the front bumper", "mkwaruzo chini ya bampa"},
				{inspectorNotes, "謎の部品ガタツキ有", "defect", "mechanical", "a mystery part rattles", "sehemu fulani inagongagonga"},
				{officeNotes, "取説は後日発送", "info", "equipment", "the manual is posted later", "kitabu kitatumwa baadaye"},
			},
			Legend: []RawLegend{},
			Map: []RawMark{
				{"front_bumper", "none", "A2"}, {"front_door", "left", "U1"}, {"rear_fender", "right", "XX"}, {"sill", "left", "C2"},
			},
			Tyres:        RawTyres{"5", "[5]", "4mm", "4", ""},
			GlassCircled: []string{"飛石"}, InsideCircled: []string{"コゲ"}, MeterCircled: NotPrinted,
			Documents: RawDocuments{"有", "無", NotPrinted, "12,340", []string{"スペアキー"}},
			Clarity:   none,
		},
		Again: &Again{
			Boxes: []string{"0", "8", "7", "6", "5", "4"}, Unit: "km", Flag: NotPrinted, Overall: "4", Colour: "パール",
			FirstRegistration: "H26年4月",
		},
	}
}

// read interprets a changed prius.
func read(change func(*Raw)) *Report {
	raw := prius()
	change(&raw)
	return Interpret(raw, november)
}

// skylineYears knows one car.
func skylineYears(code chassis.Code) (from, to int) {
	if code.Code == "BNR32" {
		return 1989, 1995
	}
	return 0, 0
}
