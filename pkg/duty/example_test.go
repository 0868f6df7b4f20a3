package duty_test

import (
	"fmt"
	"time"

	"github.com/shopspring/decimal"

	"ushuru/pkg/duty"
	"ushuru/pkg/localtime"
)

// The taxes on a petrol car of 2014, 1,998 cc, at a customs value of USD 2,439
// and 2,565.98 shillings per dollar. These are the figures of TRA's calculator.
func ExampleRules_Compute() {
	arrival := time.Date(2025, time.November, 1, 0, 0, 0, 0, localtime.Zone)
	car := duty.Vehicle{CC: 1998, Fuel: "PETROL", Age: duty.Age(arrival, 2014)}
	taxes := duty.On(arrival).Compute(car, decimal.NewFromInt(2439), decimal.RequireFromString("2565.98"))
	fmt.Println("import duty   USD", taxes.ImportDuty)
	fmt.Println("excise        USD", taxes.Excise)
	fmt.Println("excise by age USD", taxes.AgeExcise)
	fmt.Println("VAT           USD", taxes.VAT)
	fmt.Println("all taxes     TZS", taxes.GrandTotalTZS)
	// Output:
	// import duty   USD 609.75
	// excise        USD 152.44
	// excise by age USD 914.63
	// VAT           USD 797.86
	// all taxes     TZS 7,162,672.49
}
