// Package listing reads the page of a used car into a [vehicle.Car].
//
// Several sources on a page may give one field. Each source only claims the text
// that it found (package claim). The claims are resolved in one place, in order of
// trust: the adapter of a known site (package sites), label tables (package
// page), schema.org data (package schemaorg), page metadata. A value that cannot
// be read for certain stays empty, because a wrong value costs the buyer more
// than an empty one.
//
// The document docs/listings.md says how to add a site.
package listing
