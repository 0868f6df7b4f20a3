package freight

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/shopspring/decimal"

	"ushuru/pkg/cost"
	"ushuru/pkg/redisx"
	"ushuru/pkg/redisx/redistest"
	"ushuru/pkg/vehicle"
)

// With 500 listings that state FOB, C&F and m³, the range of listings without C&F is
// narrow, and four fifths of the freights that were held back lie in it.
func TestLearnedFreightNarrowsTheRange(t *testing.T) {
	redistest.Each(t, func(t *testing.T, conn *redisx.Conn) {
		var base vehicle.Estimate
		data, err := os.ReadFile("../../api/testdata/estimate.json")
		if err != nil || json.Unmarshal(data, &base) != nil {
			t.Fatal(err)
		}
		s := newStore(conn)
		random := rand.New(rand.NewPCG(5, 6))
		draw := func(i int) vehicle.Car { // freight by the m³, with a fixed part and noise
			m3 := 9 + random.Float64()*5
			c := car(fmt.Sprint("S", i), m3, 95+250/m3+random.NormFloat64()*5)
			fob := decimal.NewFromInt(int64(2500 + random.IntN(9000)))
			cf := fob.Add(c.CFPriceUSD.Decimal().Sub(c.FOBPriceUSD.Decimal()))
			c.FOBPriceUSD, c.CFPriceUSD = number(fob.String()), number(cf.String())
			return c
		}
		for i := range 500 {
			s.ObserveListing("https://alpha.example/"+strconv.Itoa(i), draw(i))
		}
		s.flush(t.Context())
		before, after := cost.Embedded(), cost.Embedded().Learning(s)
		var widths [2][]float64
		inside := 0
		for i := range 200 {
			e, held := base, draw(1000+i)
			truth := held.CFPriceUSD.Decimal().Sub(held.FOBPriceUSD.Decimal())
			e.Input.URL = "https://alpha.example/held"
			e.Car.FOBPriceUSD, e.Car.CFPriceUSD, e.Car.M3 = held.FOBPriceUSD, nil, held.M3
			for n, tables := range []*cost.Tables{before, after} {
				sum := tables.Calculate(e, vehicle.Terms{}, today).Summary.OnTheRoad
				widths[n] = append(widths[n], float64(sum.HighTZS-sum.LowTZS)/2/float64(sum.TZS))
			}
			for _, l := range after.Calculate(e, vehicle.Terms{}, today).DriveAway.Lines {
				if l.Code == "freight" && !truth.LessThan(l.LowUSD.Decimal()) && !truth.GreaterThan(l.HighUSD.Decimal()) {
					inside++
				}
			}
		}
		median := func(list []float64) float64 { slices.Sort(list); return list[len(list)/2] }
		wide, narrow := median(widths[0]), median(widths[1])
		t.Logf("median range of onTheRoad ±%.1f %% → ±%.1f %%; %d of 200 held-back freights inside", 100*wide, 100*narrow, inside)
		if narrow >= 0.08 || narrow >= wide || inside < 150 {
			t.Errorf("±%.1f %% → ±%.1f %%, %d of 200 inside", 100*wide, 100*narrow, inside)
		}
	})
}
