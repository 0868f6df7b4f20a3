// Package pairs finds the labels of a page with the values beside them, in any markup:
// tables, lists, rows of boxes, lines of text.
package pairs
