package cost

import (
	"fmt"

	"ushuru/pkg/vehicle"
)

// The sentences that explain the tax base: %[1]s is the authority's CIF, %[2]s
// the invoice's, in USD. The Swahili is a draft.
var (
	explainNoPrice = vehicle.Text{
		EN: "The listing gives no price in dollars, so the authority's own value, USD %[1]s, is used.",
		SW: "Tangazo halitaji bei kwa dola, hivyo thamani ya TRA, USD %[1]s, imetumika.",
	}
	explainNoValue = vehicle.Text{
		EN: "The authority's answer holds no value (USD %[1]s), so the taxes are its own whatever the price.",
		SW: "Jibu la TRA halina thamani ya CIF (USD %[1]s), hivyo kodi ni zile za TRA.",
	}
	explainShort = vehicle.Text{
		EN: "The tables hold no freight or insurance for this day, so of the listing's CIF USD %[2]s is known, and it is" +
			" more. The higher of that and the authority's own value, USD %[1]s, is used; the taxes may be higher.",
		SW: "Gharama za usafirishaji au bima hazijulikani kwa siku hii, hivyo thamani ya CIF ya tangazo ni zaidi ya USD" +
			" %[2]s. Kubwa kati ya hiyo na thamani ya TRA, USD %[1]s, imetumika; kodi huenda zikawa kubwa zaidi.",
	}
	explainBasis = map[string]vehicle.Text{
		vehicle.BasisAuthority: {
			EN: "The authority's own value, USD %[1]s, is used: the listing makes a CIF of USD %[2]s, which is not" +
				" above it.",
			SW: "Thamani ya TRA, USD %[1]s, imetumika: thamani ya CIF ya tangazo, USD %[2]s, haizidi hiyo.",
		},
		vehicle.BasisInvoice: {
			EN: "The listing makes a CIF of USD %[2]s, above the authority's own value, USD %[1]s, so the taxes are" +
				" reckoned on it.",
			SW: "Thamani ya CIF ya tangazo, USD %[2]s, inazidi thamani ya TRA, USD %[1]s, hivyo kodi" +
				" zimekokotolewa kwa hiyo.",
		},
		vehicle.BasisUndecided: {
			EN: "The listing makes a CIF of USD %[2]s, and the authority's own value, USD %[1]s, lies in that range:" +
				" freight and insurance on the invoice decide which is taxed. The higher of the two is used here.",
			SW: "Thamani ya CIF ya tangazo ni USD %[2]s, na thamani ya TRA, USD %[1]s, iko kati ya hizo: gharama" +
				" za usafirishaji na bima kwenye ankara ndizo zitakazoamua. Kubwa zaidi imetumika hapa.",
		},
	}
	reported = vehicle.Text{
		EN: " The authority is reported to tax the higher of the two values; no official text is known.",
		SW: " Inaripotiwa kwamba TRA hutoza kodi kwa thamani iliyo kubwa zaidi; hakuna maandishi rasmi" +
			" yanayojulikana.",
	}
)

// explanation says which value is taxed and why.
func (b *bill) explanation() vehicle.Text {
	own, in := b.shown.tax.CIFInUSD, b.invoice
	text := explainBasis[b.basisOfTax()]
	switch {
	case in.price == nil:
		text = explainNoPrice
	case !own.Decimal().IsPositive():
		text = explainNoValue
	case in.short:
		text = explainShort
	}
	fill := func(format, to string) string {
		if in.price == nil || !own.Decimal().IsPositive() {
			return fmt.Sprintf(format, own)
		}
		cif := rounded(in.cif.amount).String()
		if in.cif.isRange() {
			cif += fmt.Sprintf(" (%s %s %s)", rounded(in.cif.low), to, rounded(in.cif.high))
		}
		return fmt.Sprintf(format, own, cif)
	}
	return vehicle.Text{EN: fill(text.EN, "to") + reported.EN, SW: fill(text.SW, "hadi") + reported.SW, Draft: true}
}
