package match_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"ushuru/pkg/match"
	"ushuru/pkg/match/facts"
	"ushuru/pkg/vehicle"
)

const exampleCatalogue = `make,label,cc,fuel,year_from,year_to
TOYOTA,COROLLA FIELDER - NKE165 - HYBRID - WAGON,1496,HYBRID,2013,2022
TOYOTA,COROLLA FIELDER - NZE161 - WAGON,1496,PETROL,2012,2022
TOYOTA,VITZ - NCP10 - HATCHBACK,1298,PETROL,1999,2005
`

// A chassis code that TRA lists under the named model decides.
func ExampleMatcher_Choose() {
	catalogue, known, err := facts.LoadCSV(strings.NewReader(exampleCatalogue))
	if err != nil {
		panic(err)
	}
	matcher := match.New(match.Options{Facts: known})
	choice, err := matcher.Choose(context.Background(), vehicle.Car{
		Make: "TOYOTA", Model: "COROLLA FIELDER", RawModelCode: "DAA-NKE165G", Year: 2016, EngineCC: 1500, Fuel: "PETROL",
	}, catalogue)
	fmt.Println(choice.Label, err)
	// Output: COROLLA FIELDER - NKE165 - HYBRID - WAGON <nil>
}

// A car that no entry fits is refused with the nearest entries.
func ExampleError() {
	catalogue, _, err := facts.LoadCSV(strings.NewReader(exampleCatalogue))
	if err != nil {
		panic(err)
	}
	_, err = match.New(match.Options{}).Choose(context.Background(), vehicle.Car{
		Make: "TOYOTA", Model: "VITZ", RawModelCode: "DBA-NCP95", Year: 2008,
	}, catalogue)
	if refused, ok := errors.AsType[*match.Error](err); ok {
		fmt.Println(refused.Code, "-", refused.Message)
		fmt.Println(refused.Candidates[0].ModelBody)
	}
	// Output:
	// no_match - Chassis code NCP95 is not in TRA's database under TOYOTA.
	// VITZ - NCP10 - HATCHBACK
}
