package lot

import "slices"

// unitOf returns what the texts above a column say of its unit, the nearest first: the name
// of its group, then what holds for the whole table. It is a guess when the group may end
// before the column.
func (h Header) unitOf(column int) (u unit, guessed bool) {
	for _, row := range h.Above {
		said, guess := h.unitIn(row, column)
		u, guessed = u.with(said), guessed || guess && !said.IsZero()
	}
	return u.with(unitAbove(h.Title)), guessed
}

// unitIn returns what one row above the names says of the unit of a column.
func (h Header) unitIn(row []string, column int) (u unit, guess bool) {
	texts := slices.DeleteFunc(slices.Compact(slices.Clone(row)), func(text string) bool { return text == "" })
	for i, text := range texts { // "Unit", "千円"
		if u, ok := wholeUnit(text); ok && i > 0 && key(besideUnit.ReplaceAllString(spaced(texts[i-1]), "")) == "" {
			return u, false
		}
	}
	if len(texts) == 1 && !isGroup(texts[0]) {
		return unitAbove(texts[0]), false
	}
	for i := column; i >= 0; i-- {
		if i < len(row) && row[i] != "" {
			return unitAbove(row[i]), i < column
		}
		if h.Merged || !h.isPrice(i) {
			break // the group to the left ends before the column
		}
	}
	return unit{}, false
}

// isGroup reports whether a text is the name of prices, and no title.
func isGroup(text string) bool {
	rest, _ := cutUnit(text)
	return isPrice(fieldOf(rest))
}

// isPrice reports whether a column is of prices by its name.
func (h Header) isPrice(column int) bool {
	field, _ := meaning(h.Names[column])
	return isPrice(field)
}
