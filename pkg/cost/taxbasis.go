package cost

import (
	"fmt"

	"ushuru/pkg/vehicle"
)

// The sentences that explain the tax base: %[1]s is the authority's CIF and
// %[2]s the invoice's, in USD; %[3]s is the source of the price. The Swahili is
// a draft.
var (
	explainNoPrice = vehicle.Text{
		EN: "The %[3]s gives no price in US dollars, so TRA's value, USD %[1]s, is used.",
		SW: "Bei kwa dola haijatajwa kwenye %[3]s, hivyo thamani ya TRA, USD %[1]s, imetumika.",
	}
	explainNoValue = vehicle.Text{
		EN: "TRA's answer contains no value (USD %[1]s), so its taxes are used whatever the price.",
		SW: "Jibu la TRA halina thamani ya CIF (USD %[1]s), hivyo kodi ni zile za TRA.",
	}
	explainShort = vehicle.Text{
		EN: "The tables contain no freight or insurance for this day, so the %[3]s's CIF is more than the known USD %[2]s." +
			" The higher of that and TRA's value, USD %[1]s, is used; the taxes may be higher.",
		SW: "Gharama za usafirishaji au bima hazijulikani kwa siku hii, hivyo thamani ya CIF ya %[3]s ni zaidi ya USD" +
			" %[2]s. Kubwa kati ya hiyo na thamani ya TRA, USD %[1]s, imetumika; kodi huenda zikawa kubwa zaidi.",
	}
	explainBasis = map[string]vehicle.Text{
		vehicle.BasisAuthority: {
			EN: "TRA's value, USD %[1]s, is used: the %[3]s's price gives a CIF of USD %[2]s, which is not above it.",
			SW: "Thamani ya TRA, USD %[1]s, imetumika: thamani ya CIF ya %[3]s, USD %[2]s, haizidi hiyo.",
		},
		vehicle.BasisInvoice: {
			EN: "The %[3]s's price gives a CIF of USD %[2]s, above TRA's value, USD %[1]s, so the taxes are computed on it.",
			SW: "Thamani ya CIF ya %[3]s, USD %[2]s, inazidi thamani ya TRA, USD %[1]s, hivyo kodi" +
				" zimekokotolewa kwa hiyo.",
		},
		vehicle.BasisUndecided: {
			EN: "The %[3]s's price gives a CIF of USD %[2]s, and TRA's value, USD %[1]s, lies within that range: freight and" +
				" insurance on the invoice decide which is taxed. The higher of the two is used here.",
			SW: "Thamani ya CIF ya %[3]s ni USD %[2]s, na thamani ya TRA, USD %[1]s, iko kati ya hizo: gharama" +
				" za usafirishaji na bima kwenye ankara ndizo zitakazoamua. Kubwa zaidi imetumika hapa.",
		},
	}
	reported = vehicle.Text{
		EN: " TRA reportedly taxes the higher of the two values; no official text is known.",
		SW: " Inaripotiwa kwamba TRA hutoza kodi kwa thamani iliyo kubwa zaidi; hakuna maandishi rasmi" +
			" yanayojulikana.",
	}
)

// explanation states which value is taxed and why.
func (b *calculation) explanation() vehicle.Text {
	own, in := b.implied.tax.CIFInUSD, b.invoice
	text := explainBasis[b.basisOfTax()]
	switch {
	case in.price == nil:
		text = explainNoPrice
	case !own.Decimal().IsPositive():
		text = explainNoValue
	case in.short():
		text = explainShort
	}
	source := b.car.Source.Noun()
	fill := func(format, to, source string) string {
		if in.price == nil || !own.Decimal().IsPositive() {
			return fmt.Sprintf(format, own, "", source)
		}
		cif := rounded(in.cif.amount).String()
		if in.cif.isRange() {
			cif += fmt.Sprintf(" (%s %s %s)", rounded(in.cif.low), to, rounded(in.cif.high))
		}
		return fmt.Sprintf(format, own, cif, source)
	}
	return vehicle.Text{
		EN: fill(text.EN, "to", source.EN) + reported.EN, SW: fill(text.SW, "hadi", source.SW) + reported.SW, Draft: true,
	}
}
