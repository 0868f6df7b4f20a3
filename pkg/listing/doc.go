// Package listing reads the page of a used car into a [vehicle.Car].
//
// Several sources on a page may give one field. Each source only claims what
// it found, as text; the claims are settled in one place, in order of trust:
// the adapter of a known site, label tables, schema.org data, page metadata.
// A value that cannot be read for certain stays empty: null beats wrong.
//
// To add a site, add it to sites.json and, if the generic readers miss
// something, write one file with an [adapter] and add that to adapters. To add
// a label, add a line to labels.csv.
package listing
