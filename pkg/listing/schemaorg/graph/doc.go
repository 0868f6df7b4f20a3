// Package graph reads the schema.org data of a page, JSON-LD, microdata and
// RDFa, into one graph of nodes. Broken JSON is read as far as its meaning is
// certain; time, size and depth are bounded.
package graph
