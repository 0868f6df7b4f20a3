package aitest

import (
	"strings"

	"ushuru/pkg/sheet/sheettest"
)

// notPrinted is the word of the closed lists for what is not there.
const notPrinted = "not_printed"

func orNot(word string) string {
	if word == "" {
		return notPrinted
	}
	return word
}

func unitWord(circled string) string {
	return orNot(map[string]string{"km": "km", "マイル": "mile"}[circled])
}

// printed tells what stands on a sheet by the names of the reading's schema.
func printed(t *sheettest.Truth) map[string]any {
	field := func(key string) string { return t.Fields[key] }
	vehicle := map[string]any{}
	for name, key := range map[string]string{
		"name_jp": "name", "trim": "trim", "doors_shape": "shape", "model_code": "model_code", "chassis_no": "chassis_no",
		"cc": "cc", "fuel": "fuel", "drive": "drive", "shift": "shift", "air_conditioning": "aircon", "seats": "seats",
		"steering":       "steering",
		"import_channel": "import_channel", "model_year": "model_year", "use_history": "use", "colour": "colour",
		"colour_no": "colour_no", "interior_colour": "interior_colour", "dims": "size", "load": "load",
	} {
		vehicle[name] = field(key)
	}
	basis, name := notPrinted, notPrinted
	if t.House != "" {
		basis, name = "printed", t.House
		if name == "IAA" {
			name = "IAA Osaka"
		}
	}
	var later []string
	if field("later") != "" {
		later = []string{field("later")}
	}
	return map[string]any{
		"house": map[string]any{"name": name, "basis": basis, "corner": field("corner")},
		"lot":   field("lot"), "auction_date": field("date"), "vehicle": vehicle,
		"dates": map[string]any{
			"first_registration": field("first_registration"), "shaken_until": field("shaken_until"),
			"name_change_deadline": field("name_change"),
		},
		"mileage": map[string]any{"digits": t.Digits, "unit": unitWord(t.Unit), "flag": orNot(t.Flag)},
		"grades": map[string]any{
			"overall": orNot(field("overall")), "exterior": orNot(field("exterior")), "interior": orNot(field("interior")),
		},
		"repair_history": orNot(field("repair")), "equipment": t.Circled, "notes": notes(t), "legend": legend(t), "map": marks(t),
		"tyres": tyres(t), "glass_circled": t.Glass, "inside_circled": t.Inside, "meter_circled": orNot(t.Meter),
		"documents": map[string]any{
			"service_book": orNot(t.Documents["新車整備手帳"]), "manual": orNot(t.Documents["取扱説明書"]),
			"warranty": orNot(t.Documents["保証書"]), "recycle_yen": field("recycle"), "items_later": later,
		},
		"clarity": map[string]any{}, // all clear
	}
}

// notes says of each note who wrote it. What it means the simulator does not
// know; it says so in both languages.
func notes(t *sheettest.Truth) (list []map[string]any) {
	for _, voice := range []struct {
		author string
		texts  []string
	}{
		{"seller_points", t.Points},
		{"seller_notes", t.Seller},
		{"inspector", t.Inspector},
		{"office", t.Office},
	} {
		for _, text := range voice.texts {
			list = append(list, map[string]any{
				"author": voice.author, "jp": text, "kind": kindOf(voice.author), "area": areaOf(text),
				"en": Mark + " translation", "sw": Mark + " tafsiri",
			})
		}
	}
	return list
}

func kindOf(author string) string {
	return map[string]string{"seller_points": "option", "seller_notes": "defect", "inspector": "defect", "office": "info"}[author]
}

// areaOf guesses the part of the car by a word.
func areaOf(text string) string {
	for _, known := range []struct{ words, area string }{
		{"エンジン オイル ミッション 下廻り 足廻り エアコン チェックランプ", "mechanical"},
		{"室内 シート コゲ 天井 臭 ハンドル ダッシュ トリム シミ ビス穴 毛", "inside"},
		{"コアサポート パネル ピラー 冠水", "repair"},
		{"メーター 走行", "mileage"},
		{"ナビ AW カメラ キー ETC 取説 記録簿 TV PSD", "equipment"},
	} {
		for word := range strings.FieldsSeq(known.words) {
			if strings.Contains(text, word) {
				return known.area
			}
		}
	}
	return "outside"
}

func legend(t *sheettest.Truth) (list []map[string]any) {
	for _, entry := range t.Legend {
		list = append(list, map[string]any{"code": entry.Code, "jp": entry.Meaning})
	}
	return list
}

func marks(t *sheettest.Truth) (list []map[string]any) {
	for _, mark := range t.Marks {
		side := mark.Side
		if side == "" {
			side = "none"
		}
		list = append(list, map[string]any{"panel": mark.Panel, "side": side, "code": mark.Code})
	}
	return list
}

func tyres(t *sheettest.Truth) map[string]any {
	values := map[string]any{}
	for i, name := range []string{"front_left", "front_right", "rear_left", "rear_right", "spare"} {
		if i < len(t.Tyres) {
			values[name] = t.Tyres[i]
		}
	}
	return values
}
