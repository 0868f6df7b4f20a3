package match

import "ushuru/pkg/chassis"

// bodyClasses folds the body words of exporters and of official lists,
// misspellings included (source: public exporters' pages; Kenya's official
// price list of July 2025). Keys are NameKeys.
var bodyClasses = map[string]string{
	"SEDAN": "SEDAN", "SALOON": "SEDAN",
	"WAGON": "WAGON", "SWAGON": "WAGON", "STATIONWAGON": "WAGON", "ESTATE": "WAGON",
	"HATCHBACK": "HATCHBACK", "HATCBACK": "HATCHBACK", "LIFTBACK": "HATCHBACK",
	"SUV": "SUV", "CROSSOVER": "SUV", "SUVCOUPE": "SUV", "JEEP": "SUV",
	"MINIVAN": "MINIVAN", "MINVAN": "MINIVAN", "MPV": "MINIVAN",
	"PEOPLEMOVER": "MINIVAN", "PM": "MINIVAN", "VANMINIVAN": "MINIVAN",
	"VAN": "VAN", "PANELVAN": "VAN",
	"TRUCK": "TRUCK", "TRK": "TRUCK", "SINGLECAB": "TRUCK", "SCABIN": "TRUCK", "SCAB": "TRUCK",
	"SINGLECABIN": "TRUCK", "TIPPER": "TRUCK",
	"PICKUP": "PICK UP", "DCAB": "PICK UP", "DUALCAB": "PICK UP", "DOUBLECAB": "PICK UP",
	"DOUBLECABIN": "PICK UP", "CREWCAB": "PICK UP",
	"COUPE": "COUPE", "CONVERTIBLE": "CONVERTIBLE", "CONVRTIBLE": "CONVERTIBLE", "MINIBUS": "MINIBUS", "BUS": "BUS",
}

// bodyWords may stand at the end of a model's name only to repeat the body:
// HIACE VAN is HIACE. COMMUTER is the makers' word for a minibus.
var bodyWords = map[string]bool{
	"SEDAN": true, "SALOON": true, "WAGON": true, "ESTATE": true, "HATCHBACK": true, "SUV": true, "MINIVAN": true, "MPV": true,
	"VAN": true, "TRUCK": true, "PICKUP": true, "COUPE": true, "CONVERTIBLE": true, "MINIBUS": true, "BUS": true,
	"COMMUTER": true,
}

// bodyClass folds a body word; words not in the table are "".
func bodyClass(body string) string {
	if class, plain := bodyClasses[body]; plain {
		return class
	}
	return bodyClasses[chassis.NameKey(body)]
}
