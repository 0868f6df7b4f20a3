package match

import (
	"slices"
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/match/naming"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// listedCodes reads the chassis codes of a listing, from the best field that
// holds one: the code as listed, the code already stripped, the frame number,
// a code inside grade or name, with its prefix or known to the authority.
func listedCodes(car vehicle.Car, entries *catalogue.Entries) []chassis.Code {
	for _, cell := range []string{car.RawModelCode, car.ModelCode, car.FrameNumber} {
		switch codes := chassis.ParseAll(cell); len(codes) {
		case 0:
			if cut := splitMasked(cell, entries); cut != nil {
				return cut
			}
		case 1:
			return splitGlued(codes[0], car.Year, entries)
		default:
			return codes
		}
	}
	for _, text := range []string{car.Version, car.Model} {
		if code, ok := chassis.InText(text); ok {
			return []chassis.Code{code}
		}
	}
	return codeWords(car, entries)
}

// firstCode returns the first of the listed codes; an empty one for a listing without.
func firstCode(car vehicle.Car, entries *catalogue.Entries) (code chassis.Code) {
	if codes := listedCodes(car, entries); len(codes) > 0 {
		code = codes[0]
	}
	return code
}

// splitMasked splits a code and a masked serial without a hyphen: KSP1302103***.
func splitMasked(cell string, entries *catalogue.Entries) []chassis.Code {
	if !strings.Contains(cell, "*") {
		return nil
	}
	for _, cut := range chassis.RunTogether(strings.ReplaceAll(chassis.Normalise(cell), " ", "")) {
		if isListed(cut.Code, entries) {
			cut.Raw = strings.TrimSpace(cell)
			return []chassis.Code{cut}
		}
	}
	return nil
}

// codeWords finds words of name and grade that are codes which the authority
// lists, letter by letter. Shorter words and words without both letters and
// digits could be anything.
func codeWords(car vehicle.Car, entries *catalogue.Entries) (codes []chassis.Code) {
	for _, word := range append(naming.Words(car.Model), naming.Words(car.Version)...) {
		digits := len(naming.Digits(word))
		shaped := len(word) >= 5 && 0 < digits && digits < len(word)
		if !shaped || entries.HasModel([]byte(word)) || len(entries.ByCode(word)) == 0 {
			continue
		}
		if !slices.ContainsFunc(codes, func(c chassis.Code) bool { return c.Code == word }) {
			codes = append(codes, chassis.Code{Raw: word, Code: word})
		}
	}
	return codes
}

// spelled reads a code that was written without its hyphen, when the authority
// does not list it as it stands: first as a prefix and a code (taazt240), then
// as a code and a frame serial (NKE1657161960; of several cuts the one with
// the longest code). A prefix must fit the year: GFC27 is a code of 2016 and
// later, so it is not GF-C27. Two readings are two codes.
func splitGlued(code chassis.Code, year int, entries *catalogue.Entries) []chassis.Code {
	if code.Prefix != "" || code.Frame || isListed(code.Code, entries) {
		return []chassis.Code{code}
	}
	var readings []chassis.Code
	for _, way := range chassis.Unglue(code) {
		if chassis.PrefixFits(way.Prefix, year) && isListed(way.Code, entries) {
			readings = append(readings, way)
		}
	}
	for _, cut := range chassis.RunTogether(code.Code) {
		if len(readings) == 0 && isListed(cut.Code, entries) {
			cut.Raw = code.Raw
			readings = append(readings, cut)
		}
	}
	if len(readings) == 0 {
		return []chassis.Code{code}
	}
	return readings
}

func isListed(code string, entries *catalogue.Entries) bool {
	if len(entries.ByCode(code)) > 0 || len(entries.ByStem(code)) > 0 {
		return true
	}
	stem, lettered := chassis.Stem(code)
	return lettered && len(entries.ByCode(stem)) > 0
}

// withOtherLetter lists the labels whose code is the same but for a body
// letter that one side leaves out.
func (q *query) withOtherLetter(code string) []catalogue.Label {
	stem, _ := chassis.Stem(code)
	return filtered(q.entries.ByStem(stem), func(label catalogue.Label) bool {
		listed := labelCode(label, code)
		return listed != "" && listed != code
	})
}

// labelCode is the code of the label that a listed code led to.
func labelCode(label catalogue.Label, code string) string {
	if slices.Contains(label.Codes, code) {
		return code
	}
	for _, c := range label.Codes {
		if chassis.StemMatch(c, code) {
			return c
		}
	}
	return ""
}

// shortened returns the frame number's code when the listing's only code is a
// part of it: E12 beside the frame number HE12-012345. The frame number is
// better evidence than a code that was typed by hand.
func (q *query) shortened(codes []chassis.Code) (chassis.Code, bool) {
	frame, ok := chassis.FromFrame(q.car.FrameNumber)
	if !ok || len(codes) != 1 || !isListed(frame.Code, q.entries) || chassis.StemMatch(codes[0].Code, frame.Code) {
		return chassis.Code{}, false
	}
	stem, _ := chassis.Stem(codes[0].Code)
	return frame, len(frame.Code) > len(stem) && strings.Contains(frame.Code, stem)
}

// checkFrame refuses a listing whose code and frame number name two cars that
// the authority both knows.
func (q *query) checkFrame(codes []chassis.Code) error {
	frame, ok := chassis.FromFrame(q.car.FrameNumber)
	if !ok || !isListed(frame.Code, q.entries) {
		return nil
	}
	for _, code := range codes {
		if chassis.StemMatch(code.Code, frame.Code) {
			return nil
		}
	}
	with := q.values("codes", joinCodes(codes), "frame", clip(frame.Raw))
	candidates := slices.Concat(q.entries.ByCode(codes[0].Code), q.entries.ByStem(frame.Code))
	return q.refuse("ambiguous_match.frame", with, frame, candidates)
}

// codeAdjustment reports a code that was completed or read from a frame
// number. A body letter that only the listing has is no difference: the
// authority's labels leave it out.
func (q *query) codeAdjustment(code chassis.Code, listed string) []vehicle.Adjustment {
	var reason string
	switch {
	case code.Frame && listed == code.Code:
		reason = "code_from_frame"
	case code.Frame:
		reason = "code_from_frame.letter"
	case len(listed) > len(code.Code):
		reason = "code_letter"
	default:
		return nil
	}
	return []vehicle.Adjustment{vehicle.Adjusted("modelCode", code.Raw, listed, reason, q.values())}
}

func joinCodes(codes []chassis.Code) string {
	names := make([]string, 0, len(codes))
	for _, code := range codes {
		names = append(names, code.Code)
	}
	return strings.Join(names, ", ")
}
