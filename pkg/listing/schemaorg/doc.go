// Package schemaorg claims what a page's schema.org data say of its car. It
// finds the node that is the page's own car and reads its make, model, dates,
// engine, fuel, mileage, offers and pictures.
package schemaorg
