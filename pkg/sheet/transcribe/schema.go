package transcribe

import (
	"ushuru/pkg/ai"

	"ushuru/pkg/sheet"
)

// ReadingSchema is the shape of a Reading.
func ReadingSchema() ai.Schema {
	return ai.Schema{
		object("house",
			oneOf("name", "the auction house", Houses),
			oneOf("basis", "its name is printed, or inferred from the form", bases),
			value("corner", "コーナー"),
		),
		value("lot", "出品番号"),
		value("auction_date", "開催日"),
		object("vehicle", vehicleFields()...),
		object("dates",
			value("first_registration", "初度登録, 初度登録年月: as printed, with the letter of the era"),
			value("shaken_until", "車検: as printed"),
			value("name_change_deadline", "名義変更期限: as printed"),
		),
		object("mileage",
			value("digits", "走行: only the digits of the boxes, leading zeros included"),
			oneOf("unit", "the unit that is printed or circled: km, or mile for マイル", Units),
			oneOf("flag", "the sign beside the mileage", flags),
		),
		object("grades",
			oneOf("overall", "評価点: only what stands beside this label", OverallGrades),
			oneOf("exterior", "外装: the letter of the grade, not the colour", Letters),
			oneOf("interior", "内装, 内装補助評価: the letter of the grade, with an apostrophe where a tick follows", Letters),
		),
		oneOf("repair_history", "修復歴: the circled or written word", Repairs),
		ai.Property{
			Name: "equipment", Type: ai.List, Max: 20, MaxItems: MaxEquipment + 1,
			Description: "純正装備, 装備品: the circled words alone",
		},
		list("notes", "every note on the sheet, one finding, claim or option in each, in the order of the sheet", MaxNotes+1,
			oneOf("author", "セールスポイント is seller_points, 注意事項 seller_notes, 検査員報告 and 検査員記入欄 inspector, 事務局 office", authors),
			text("jp", "its Japanese characters as written", MaxNoteJP),
			oneOf("kind", "a fault of the car, an option, or something else", NoteKinds),
			oneOf("area", "what part of the car or of the sale it is about", NoteAreas),
			text("en", "a plain English translation", MaxNoteMeaning),
			text("sw", "a plain Swahili translation, as spoken in Tanzania", MaxNoteMeaning),
		),
		list("legend", "the printed legend of the damage codes, if there is one", maxLegend,
			text("code", "the letters", 4),
			text("jp", "what the legend prints beside them", MaxValue),
		),
		list("map", "車両展開図: each code written on the drawing of the car", MaxMarks+1,
			oneOf("panel", "the part of the car it stands on", Panels),
			oneOf("side", "the car's side as the sheet marks it; none for a part in the middle", sides),
			text("code", "the code as written", 8),
		),
		object("tyres",
			text("front_left", "the tread in mm in the box of the tyre", 10), text("front_right", "", 10),
			text("rear_left", "", 10), text("rear_right", "", 10), text("spare", "", 10),
		),
		circled("glass_circled", "FW フロントガラス: the circled words", GlassWords),
		circled("inside_circled", "室内: the circled words", InsideWords),
		oneOf("meter_circled", "メーター歴: the circled word", Meters),
		object("documents",
			oneOf("service_book", "新車整備手帳", YesNo),
			oneOf("manual", "取扱説明書", YesNo),
			oneOf("warranty", "保証書", YesNo),
			value("recycle_yen", "リサイクル預託金"),
			ai.Property{Name: "items_later", Type: ai.List, Max: MaxValue, MaxItems: MaxLater, Description: "後日書類, 後日発送部品"},
		),
		object("said", saidFields()...),
		object("clarity", clarityFields()...),
	}
}

func vehicleFields() []ai.Property {
	return []ai.Property{
		value("name_jp", "車名, in Japanese characters"),
		value("name", "車名, where it is printed in Latin letters"),
		value("trim", "グレード"),
		value("doors_shape", "ドア形状, 形状・ドア数"),
		value("model_code", "型式"),
		value("chassis_no", "車台番号, 車台No"),
		value("cc", "排気量"),
		value("fuel", "燃料: the word as printed or circled"),
		value("drive", "駆動: as printed"),
		value("shift", "シフト: as printed"),
		value("air_conditioning", "エアコン, 冷房: as printed"),
		value("seats", "乗車定員"),
		oneOf("steering", "ハンドル", Steerings),
		oneOf("import_channel", "輸入区分", Channels),
		value("model_year", "モデル年式, 年式, of imported cars"),
		value("use_history", "車歴: as printed or circled"),
		value("colour", "外装色: as printed; with an arrow from the original colour (元色, 色替) where it was changed"),
		value("colour_no", "カラーNo"),
		value("interior_colour", "内装色"),
		value("dims", "諸元, 寸法"),
		value("load", "最大積載量"),
	}
}

// saidFields ask once more for what must not be missed. not_said is the first answer:
// a model that takes the first then says nothing.
func saidFields() (fields []ai.Property) {
	for _, subject := range sheet.Subjects {
		fields = append(fields, object(string(subject),
			oneOf("answer", "yes for a statement or a suspicion, no only where the sheet denies it in words", saidAnswers),
			text("quote", "the characters of the sheet that say so, as written", MaxNoteJP),
		))
	}
	return fields
}

func clarityFields() (fields []ai.Property) {
	for _, block := range []string{
		"house", "vehicle", "dates", "mileage", "grades", "repair_history", "equipment", "notes", "map", "documents",
	} {
		fields = append(fields, oneOf(block, "how clearly this block can be read", clarities))
	}
	return fields
}

func circled(name, description string, list List) ai.Property {
	return ai.Property{
		Name: name, Type: ai.List, Description: description, Enum: values[list], Fallback: sheet.NotReadable,
		MaxItems: 2 * maxCircled,
	}
}
