package chassis

// Power is what an emission prefix says drives a car.
type Power string

// What a prefix can say. The empty Power is a prefix that says nothing, as
// those before 2005 do.
const (
	Petrol       Power = "petrol"
	Diesel       Power = "diesel"
	Hybrid       Power = "petrol hybrid" // plug-in hybrids too
	DieselHybrid Power = "diesel hybrid"
	Electric     Power = "electric"
	FuelCell     Power = "fuel cell"
)

// Power reads the emission prefix: the second of three characters is A or L
// for petrol hybrids, B for petrol, C for diesel hybrids and D for diesel; a
// first character Z is a car without exhaust. The scheme is that of 2005 and
// 2018 (kurukura.jp/car-life/20200419).
func (c Code) Power() Power {
	if len(c.Prefix) != 3 {
		return ""
	}
	second := c.Prefix[1]
	if c.Prefix[0] == 'Z' {
		return map[byte]Power{'A': Electric, 'B': FuelCell}[second]
	}
	switch second {
	case 'A', 'L':
		return Hybrid
	case 'B':
		return Petrol
	case 'C':
		return DieselHybrid
	case 'D':
		return Diesel
	}
	return ""
}
