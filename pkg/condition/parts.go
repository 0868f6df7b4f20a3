package condition

import (
	"slices"
)

// place reads a place of the car. The inner panel is one too, when no part follows.
func (r *reader) place(tok *token, next []*token) {
	r.startNoun()
	if last := len(r.parts) - 1; tok.text == "内" && last >= 0 && r.prev == r.parts[last] && classOf(r.prev) == "meter" {
		r.parts = r.parts[:last] // メーター内時計
	}
	for _, follows := range next {
		switch {
		case tok.senses[0].name == "", follows.has("part"), follows.isOther(), follows.kind == "comma":
			return
		case follows.has("find"):
			tok.senses = []sense{{kind: "part", name: tok.senses[0].name}}
			r.part(tok)
			return
		}
	}
}

// startNoun closes a list item that ended in a finding, now that a noun follows.
func (r *reader) startNoun() {
	if r.ended {
		r.listed = append(r.listed, r.open...)
		r.open, r.used, r.ended = nil, nil, false
	}
}

// structural are the classes of parts that a car stands and falls with.
var structural = []string{"frame", "floor", "roof", "semi"}

// accessories are the classes of parts whose name may end a compound that begins
// with a structural part: ピラートリム.
var accessories = []string{"inner", "outer", "equip", "glass", "other"}

func classOf(tok *token) string {
	for _, s := range tok.senses {
		if s.kind == "part" {
			return s.name
		}
	}
	return ""
}

// part reads the name of a part. The head of a compound is at its right end.
func (r *reader) part(tok *token) {
	if p := r.prev; p != nil && p.end == tok.start && p.has("part") && len(r.parts) > 0 && r.parts[len(r.parts)-1] == p {
		r.compound(p, tok)
	}
	r.parts, r.heads = append(r.parts, tok), append(r.heads, classOf(tok))
	r.used = nil
	if tok.latin && r.prev != nil && r.prev.latin && r.prev.has("find") { // a finding stood in front: bent frame
		if last := len(r.fresh) - 1; last >= 0 && r.fresh[last].class == "alone" {
			r.drop(r.fresh[last])
			r.fresh = nil
			r.apply(tok, r.prev)
			r.endFinding()
		}
	}
}

// compound joins the name of a part to the one p that stands at once before it.
func (r *reader) compound(p, tok *token) {
	before, class := classOf(p), classOf(tok)
	isStem := slices.ContainsFunc(tok.senses, func(s sense) bool { return s.note == "stem" })
	switch {
	case isStem && slices.Contains(accessories, before) && p.text != "トランク":
		tok.senses = p.senses // ナンバー+フレーム, シート+フレーム: no frame of the car
		r.parts = r.parts[:len(r.parts)-1]
	case before == "bolted" && slices.Contains(structural, class) && p.text == "トランク":
		r.parts = r.parts[:len(r.parts)-1]
	case slices.Contains(accessories, class), !slices.Contains(structural, before):
		r.parts = r.parts[:len(r.parts)-1]
		if class == "other" && !slices.Contains(structural, before) ||
			class == "oil" && (before == "runlight" || before == "metal") {
			tok.senses = p.senses // ショックオイル
		}
	case before == "floor" || before == "roof":
		r.parts = r.parts[:len(r.parts)-1]
	}
}
