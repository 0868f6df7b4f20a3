// Package sheettest makes SIMULATED auction sheets whose right reading is known
// by construction, because no open set of real ones exists: the forms of the
// main houses with Japanese labels, filled by a seed, in print and in
// handwriting, turned, blurred and compressed; and special ones, among them a
// blank form, a fake and a picture that is no sheet.
//
// Make and Special make a sheet's truth and need no fonts; Sheet.Draw draws it
// and needs Debian's fonts-ipafont, fonts-ipaexfont, fonts-kiloji and
// fonts-aoyagi-kouzan-t. Every sheet carries a QR code with its id, by which
// the simulated AI (pkg/ai/aitest) knows what stands on the picture that it was
// sent, and says SIMULATED across the page. The names of houses are there
// because their forms differ; nothing on the sheets is of any house.
package sheettest
