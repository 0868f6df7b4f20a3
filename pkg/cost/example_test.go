package cost_test

import (
	"fmt"
	"time"

	"ushuru/pkg/cost"
	"ushuru/pkg/localtime"
	"ushuru/pkg/money"
	"ushuru/pkg/vehicle"
)

// The total cost of a car whose price gives a CIF above TRA's value: the taxes
// are computed on the price.
func ExampleTables_Calculate() {
	amount := func(text string) money.Amount {
		parsed, err := money.Parse(text)
		if err != nil {
			panic(err)
		}
		return parsed
	}
	price, err := money.ParseNumber("4000")
	if err != nil {
		panic(err)
	}
	estimate := vehicle.Estimate{
		Car: vehicle.Car{CFPriceUSD: &price},
		Tax: vehicle.Tax{
			ReferenceNumber: "25264120160", BodyType: "SUV", YOM: 2014, Country: "JAPAN", FuelType: "PETROL",
			CIFInUSD: amount("2,439.00"), ImportDutyInUSD: amount("609.75"), ExiseDutyInUSD: amount("152.44"),
			ExiseDutyDueToAgeInUSD: amount("914.63"), VATInUSD: amount("797.86"), CustomProcessingFeeInUSD: amount("14.63"),
			RailwayDevLevyInUSD: amount("48.78"), HIVRespLevy: amount("150,000.00"),
			TotalImportTaxesInUSD: amount("2,538.08"), TotalImportTaxesInTZS: amount("6,512,672.49"),
			VehicleRegistrationFeeInTZS: amount("500,000.00"), TotalTaxesInTZS: amount("7,162,672.49"),
		},
	}
	now := time.Date(2025, time.November, 21, 12, 0, 0, 0, localtime.Zone)
	answer := cost.Embedded().Calculate(estimate, vehicle.Terms{}, now)
	fmt.Println(answer.DriveAway.TaxBase.Basis, answer.DriveAway.TaxBase.CIFInUSD)
	fmt.Println(answer.Warnings[0].Code)
	fmt.Println(answer.Summary.Landing.Likely, answer.Summary.OnTheRoad.TZS)
	// Output:
	// invoice_cif 4,060.00
	// price_above_authority_value
	// 2026-01-27 23850000
}
