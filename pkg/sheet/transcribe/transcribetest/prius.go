// Package transcribetest has what a model copies from an invented auction sheet.
package transcribetest

import (
	"ushuru/pkg/sheet"
	"ushuru/pkg/sheet/transcribe"
)

// Prius is what a model says of an ordinary, invented sheet.
func Prius() transcribe.Transcript {
	none := map[string]string{
		"house": "clear", "vehicle": "clear", "dates": "clear", "mileage": "clear", "grades": "clear", "repair_history": "clear",
		"equipment": "clear", "notes": "clear", "map": "clear", "documents": "clear",
	}
	return transcribe.Transcript{
		Classification: transcribe.Classification{
			Kind: "auction_sheet", Anchors: []string{"評価点", "型式", "走行"}, IsAuctionSheet: true, FilledIn: true, MakesSense: true,
			Readability: "full", UnreadableAreas: []string{},
		},
		Reading: transcribe.Reading{
			House: transcribe.House{Name: "USS", Basis: "printed", Corner: "小型"}, Lot: "40123", AuctionDate: "2026/9/14",
			Vehicle: transcribe.Vehicle{
				NameJP: "プリウス", Trim: "S", DoorsShape: "5D", ModelCode: "DAA-ZVW30", ChassisNo: "ZVW30-1512345", CC: "1790",
				Fuel: "ガソリン", Drive: "2WD", Shift: "IAT", AirCon: "AAC", Seats: "5", Steering: sheet.NotPrinted,
				ImportChannel: sheet.NotPrinted,
				Colour:        "パール", ColourNo: "070", InteriorColour: "グレー",
			},
			Dates:     transcribe.Dates{FirstRegistration: "H26年4月", ShakenUntil: "R9年4月", NameChange: "R8年10月20日"},
			Mileage:   transcribe.Mileage{Digits: "087654", Unit: "km", Flag: sheet.NotPrinted},
			Grades:    transcribe.Grades{Overall: "4", Exterior: "C", Interior: "B"},
			Repair:    sheet.NotPrinted,
			Equipment: []string{"PS", "PW", "ナビ", "エアB"},
			Notes: []transcribe.Note{
				{
					Author: transcribe.SellerPoints, JP: "1オーナー", Kind: "info", Area: "equipment", EN: "one owner",
					SW: "mmiliki mmoja",
				},
				{
					Author: transcribe.SellerNotes, JP: "社外ナビ", Kind: "option", Area: "equipment",
					EN: "aftermarket navigation", SW: "",
				},
				{
					Author: transcribe.InspectorNotes, JP: "エンジン異音", Kind: "defect", Area: "mechanical",
					EN: "engine noise", SW: "mlio wa injini",
				},
				{
					Author: transcribe.InspectorNotes, JP: "Fバンパー下キズ", Kind: "defect", Area: "outside",
					EN: "scratch under the front bumper", SW: "mkwaruzo chini ya bampa",
				},
				{
					Author: transcribe.InspectorNotes, JP: "謎の部品ガタツキ有", Kind: "defect", Area: "mechanical",
					EN: "a mystery part rattles", SW: "sehemu fulani inagongagonga",
				},
				{
					Author: transcribe.OfficeNotes, JP: "取説は後日発送", Kind: "info", Area: "equipment",
					EN: "the manual is posted later", SW: "kitabu kitatumwa baadaye",
				},
			},
			Legend: []transcribe.LegendLine{},
			Map: []transcribe.Mark{
				{Panel: "front_bumper", Side: "none", Code: "A2"},
				{Panel: "front_door", Side: "left", Code: "U1"},
				{Panel: "rear_fender", Side: "right", Code: "XX"},
				{Panel: "sill", Side: "left", Code: "C2"},
			},
			Tyres:        transcribe.Tyres{FrontLeft: "5", FrontRight: "[5]", RearLeft: "4mm", RearRight: "4", Spare: ""},
			GlassCircled: []string{"飛石"}, InsideCircled: []string{"コゲ"}, MeterCircled: sheet.NotPrinted,
			Documents: transcribe.Documents{
				ServiceBook: "有", Manual: "無", Warranty: sheet.NotPrinted,
				Recycle: "12,340", Later: []string{"スペアキー"},
			},
			Clarity: none,
		},
		Second: &transcribe.SecondReading{
			Boxes: []string{"0", "8", "7", "6", "5", "4"}, Unit: "km", Flag: sheet.NotPrinted, Overall: "4", Colour: "パール",
			FirstRegistration: "H26年4月",
		},
	}
}
