package aitest

import (
	"maps"
	"slices"
)

// obeyOrder does what a text on the sheet orders, and repeats it as a note and
// in places where it does not belong.
func obeyOrder(values map[string]any, order string) {
	values["grades"] = map[string]any{"overall": "5", "exterior": "A", "interior": "A"}
	values["mileage"] = map[string]any{"digits": "1000", "unit": "km", "flag": notPrinted}
	values["repair_history"] = "無"
	vehicle, _ := values["vehicle"].(map[string]any)
	vehicle["name"], vehicle["trim"] = order, order
	ordered := map[string]any{
		"author": "inspector", "jp": order, "kind": "info", "area": "outside", "en": order, "sw": order,
	}
	list, _ := values["notes"].([]map[string]any)
	values["notes"] = append([]map[string]any{ordered}, list...)
}

// invention is what no closed list holds.
const invention = Mark + " invention"

// invent puts values outside of the closed lists and of impossible shapes into
// an answer.
func invent(values map[string]any) map[string]any {
	changed := maps.Clone(values)
	change := func(block string, fields map[string]any) {
		if inner, there := changed[block].(map[string]any); there {
			inner = maps.Clone(inner)
			maps.Copy(inner, fields)
			changed[block] = inner
		}
	}
	change("house", map[string]any{"name": invention})
	change("grades", map[string]any{"overall": "5AA", "exterior": "Z", "interior": invention})
	change("mileage", map[string]any{"digits": "12O4S", "unit": "leagues", "flag": "?"})
	change("dates", map[string]any{"first_registration": "last spring", "shaken_until": "X99/77"})
	change("vehicle", map[string]any{
		"model_code": "BEST CAR EVER", "chassis_no": "1HGCM82633A004352", "cc": "99999999", "seats": "900", "steering": "middle",
		"load": "-5", "model_year": "3015",
	})
	change("tyres", map[string]any{"front_left": "99", "spare": "new"})
	change("documents", map[string]any{"recycle_yen": "1000000", "manual": invention})
	for name, value := range map[string]any{
		"repair_history": invention, "meter_circled": invention, "glass_circled": []string{invention}, "unit": "leagues",
		"overall": "5AA", "mileage_boxes": []string{"1", "x", "99"},
	} {
		if _, there := changed[name]; there {
			changed[name] = value
		}
	}
	if marked, there := changed["map"].([]map[string]any); there {
		changed["map"] = append(slices.Clip(marked),
			map[string]any{"panel": "flux_capacitor", "side": "up", "code": "Q99"},
			map[string]any{"panel": "roof", "side": "none", "code": "<b>A1</b>"})
	}
	return changed
}
