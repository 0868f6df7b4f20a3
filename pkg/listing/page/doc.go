// Package page parses the HTML of a listing page and claims what any page says
// of its car, whichever site it is of: labels and their values, title and
// metadata, script data, pictures and the link of an inspection sheet.
package page
