package sheettest

import (
	"maps"
	"slices"
	"strconv"
)

// trap is something that readers get wrong. It sets what the form shall say.
type trap struct {
	name, car, form string // car and form: "" for those of the seed
	set             func(*Sheet)
}

// traps are set for these seeds.
var traps = map[int]trap{
	1: {name: "a low mark with a good interior", form: "TAA", set: func(s *Sheet) {
		s.fields("overall", "3", "exterior", "E", "interior", "B")
	}},
	2: {name: "trim R", car: "ワゴンR", set: func(s *Sheet) { s.fields("trim", "R", "overall", "4") }},
	3: {name: "trim S", car: "プリウス", set: func(s *Sheet) { s.fields("trim", "S", "overall", "4.5") }},
	4: {name: "trim L", car: "アクア", set: func(s *Sheet) { s.fields("trim", "L") }},
	5: {name: "trim X", car: "ノート", set: func(s *Sheet) { s.fields("trim", "X", "overall", "R"); s.repaired() }},
	6: {name: "a number that is not 10th", form: "JU", set: func(s *Sheet) {
		s.imported("C180 130thアニバーサリー", "C180", "DBA-205040C", 1590)
	}},
	7:  {name: "IAT", car: "ワゴンR", set: func(s *Sheet) { s.fields("shift", "IAT") }},
	8:  {name: "F6", car: "スイフト", set: func(s *Sheet) { s.fields("shift", "F6") }},
	9:  {name: "Heisei 26", car: "プリウス", set: func(s *Sheet) { s.Truth.register(2014, 4, "%s年%d月") }},
	10: {name: "Reiwa 3", car: "セレナ", set: func(s *Sheet) { s.Truth.register(2021, 6, "%s/%d") }},
	11: {name: "Reiwa 1", car: "スペーシア", set: func(s *Sheet) { s.Truth.register(2019, 5, "%s年%d月") }},
	12: {name: "Heisei 31", car: "アクア", set: func(s *Sheet) { s.Truth.register(2019, 4, "%s年%d月") }},
	13: {name: "X3 where the legend has only X", form: "TAA", set: func(s *Sheet) {
		s.Truth.Marks = append([]Mark{{Panel: "front_bumper", Code: "X3"}}, without(s.Truth.Marks, "front_bumper", "")...)
	}},
	14: {name: "no word on repairs", form: "BAYAUC", set: func(s *Sheet) { s.unrepaired() }},
	15: {name: "RA", set: func(s *Sheet) { s.fields("overall", "RA"); s.repaired() }},
	16: {name: "miles by hand", form: "HAA", set: func(s *Sheet) {
		s.imported("カマロ", "LT RS", "不明", 3560)
		s.Truth.Unit, s.Style = "マイル", Handwritten
	}},
	17: {name: "another colour", set: func(s *Sheet) {
		s.fields("colour", "レッド→クロ")
		s.Truth.Meaning.ColourChanged = true
	}},
	18: {name: "void", set: func(s *Sheet) { s.void() }},
	19: {name: "model code unknown", set: func(s *Sheet) { // the chassis number tells the code
		s.fields("model_code", "フメイ")
		s.Truth.Meaning.Prefix = ""
	}},
	20: {name: "petrol on a hybrid", car: "アクア", form: "HERO", set: func(s *Sheet) { s.fields("fuel", "ガソリン") }},
	21: {name: "parallel import", form: "HAA", set: func(s *Sheet) { s.imported("ミニ", "クーパーS", "ABA-XM20", 1990) }},
	22: {name: "one owner is a claim", set: func(s *Sheet) { s.Truth.Points = []string{"1オーナー", "禁煙車"} }},
	23: {name: "meter replaced", set: func(s *Sheet) { s.flag("$", "メーター交換車 R5年3月 48,210km時") }},
	24: {name: "meter tampered", form: "HAA", set: func(s *Sheet) {
		s.flag("*", "メーター改ざん車")
		s.Truth.Meter = "改ざん車"
	}},
	25: {name: "mileage unknown", set: func(s *Sheet) { s.flag("#", "走行不明車") }},
	26: {name: "a short number", set: func(s *Sheet) {
		s.Truth.Digits, s.Truth.Meaning.Mileage, s.Truth.Meaning.ScaleInferred = "089", 89, true
	}},
	27: {name: "flooded", set: func(s *Sheet) { s.void(); s.Truth.Inspector = append(s.Truth.Inspector, "冠水車") }},
	28: {name: "ungraded", set: func(s *Sheet) { s.fields("overall", "***") }},
	29: {name: "a tick after a letter", form: "IAA", set: func(s *Sheet) { s.fields("interior", "B'") }},
	30: {name: "dash for a mark", set: func(s *Sheet) { s.fields("overall", "-") }},
	31: {name: "rental", form: "USS", set: func(s *Sheet) { s.fields("use", "レンタ") }},
	32: {name: "replaced and to be replaced", form: "ARAI", set: func(s *Sheet) {
		s.Truth.Marks = []Mark{{"bonnet", "", "X"}, {"front_fender", left, "X"}, {"front_door", right, "A2"}}
	}},
	33: {name: "letters together", form: "USS", set: func(s *Sheet) {
		s.Truth.Marks = []Mark{
			{"bonnet", "", "A1"}, {"rear_door", left, "AU2"}, {"rear_fender", right, "XX"}, {"sill", left, "C2"},
		}
	}},
	34: {name: "S of S", car: "プリウス", set: func(s *Sheet) {
		s.fields("overall", "S", "trim", "S", "interior", "A", "exterior", "A")
		s.Truth.travel(820)
	}},
	35: {name: "full width", set: func(s *Sheet) { s.fields("model_code", "ＤＢＡ−ＧＫ３", "cc", "１３１０"); s.wide() }},
}

// fields sets values in pairs of key and value.
func (s *Sheet) fields(pairs ...string) {
	fields := maps.Clone(s.Truth.Fields)
	for pair := range slices.Chunk(pairs, 2) {
		fields[pair[0]] = pair[1]
	}
	s.Truth.Fields = fields
}

// wide says what the full-width code of the trap means.
func (s *Sheet) wide() {
	m := &s.Truth.Meaning
	m.Prefix, m.Chassis, m.CC = "DBA", "GK3", 1310
	s.fields("fuel", "ガソリン", "chassis_no", "GK3-1102417")
}

func (s *Sheet) repaired() {
	s.fields("repair", "有")
	s.Truth.Meaning.Repair = "yes"
	s.Truth.Inspector = append(s.Truth.Inspector, "コアサポート交換")
}

func (s *Sheet) unrepaired() {
	s.fields("overall", "4")
	delete(s.Truth.Fields, "repair")
	s.Truth.Meaning.Repair = "not_stated"
	s.Truth.Inspector = []string{"小キズ多数", "下廻りサビ"}
}

// flag marks the mileage, with the words of the notes.
func (s *Sheet) flag(flag, words string) {
	s.Truth.Flag = flag
	s.Truth.Inspector = append(s.Truth.Inspector, words)
}

// void puts the car into the corner of accident cars, without a mark.
func (s *Sheet) void() {
	s.fields("overall", "無効", "corner", "事故・現状")
}

// imported makes an imported car of a parallel channel.
func (s *Sheet) imported(name, trim, code string, cc int) {
	s.fields("name", name, "trim", trim, "model_code", code, "cc", strconv.Itoa(cc),
		"steering", "左", "import_channel", "並行", "model_year", "2015", "fuel", "ガソリン", "chassis_no", "不明")
	delete(s.Truth.Fields, "load")
	delete(s.Truth.Fields, "size")
	m := &s.Truth.Meaning
	m.Prefix, m.Chassis = cutCode(code)
	m.CC = cc
	s.Truth.register(2016, 2, "%s年%d月")
}

func without(marks []Mark, panel, side string) (kept []Mark) {
	for _, m := range marks {
		if m.Panel != panel || m.Side != side {
			kept = append(kept, m)
		}
	}
	return kept
}
