// Package listingtest is the demo listing site: a simulated site of a few
// made-up cars, for tests and for the demo. Its pages have the structure of an
// exporter's detail page and of a plain dealer's page with schema.org data; all
// text and pictures are our own, and every page and answer says SIMULATED. Some
// cars have an inspection sheet.
//
// Doubts are cars whose pages can be misread: a year that is not taxed, another car's
// price, a hybrid under the code of the petrol car, no year. Besides the cars it has pages that go wrong on purpose:
//
//	/list              a list of all cars (also /)
//	/blocked           a challenge, status 202
//	/gone              status 410
//	/sold              a sold car that is no longer described
//	/huge              a compressed bomb of 256 MB
//	/slow              begins and never ends
//	/redirect-private  redirects to a private address
//	/flaky             the first car; every other request fails with 503
package listingtest
