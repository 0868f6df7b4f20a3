package web

// PartOf is for the tests in a browser.
var PartOf = partOf
