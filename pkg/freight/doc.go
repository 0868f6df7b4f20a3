// Package freight learns from listings what sites charge for shipping to Dar es
// Salaam, and how large cars are. Many listings state the price with and without
// freight, and the volume: each is an observation. Enough observations of a site
// make an estimate that stands over the table of package cost.
//
// Observations are of pages that we fetched ourselves from sites that we know. A
// site's observations count for that site alone, one for each stock number; those
// far from the others are left out; and an estimate moves in a day by no more than
// its own spread. So no site and no seller can move the estimate of another.
package freight
