// Package claim holds what the sources on a listing page say of a car: each
// source claims a field as text, with its name and its rank. The package also
// parses those texts: years, engine sizes, distances and prices. It knows labels
// (labels.csv) and no HTML.
package claim
