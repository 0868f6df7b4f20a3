package rig

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"

	"ushuru/pkg/listing/listingtest"
	"ushuru/pkg/tra/tratest"
)

// Vehicles returns a site whose cars are all different vehicles to the authority, and
// the paths of the cars.
func Vehicles() (site http.Handler, paths []string, err error) {
	simulator, err := tratest.New(tratest.Options{})
	if err != nil {
		return nil, nil, err
	}
	const mk = "TOYOTA"
	listed := simulator.Listed(mk)
	codes := map[string]int{}
	for _, label := range listed {
		_, code, _ := parts(label.Label)
		codes[code]++
	}
	var cars []listingtest.Car
	for _, label := range listed {
		model, code, body := parts(label.Label)
		// The matcher knows RAV4 as a hybrid where the simulator has invented petrol.
		plain := slices.Equal(label.Fuels, []string{"PETROL"}) && len(label.Bands) == 1
		if codes[code] == 1 && body != "" && model != "RAV4" && plain {
			cars = append(cars, vehicleCar(len(cars), mk, model, code, body, label))
		}
	}
	//nolint:gosec // not a secret
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(cars), func(i, j int) { cars[i], cars[j] = cars[j], cars[i] })
	for _, car := range cars {
		paths = append(paths, car.Path())
	}
	return Instant(listingtest.Of(cars)), paths, nil
}

// parts splits the label of a car that has a plain one.
func parts(label string) (model, code, body string) {
	const words = 3
	split := strings.Split(label, " - ")
	if len(split) != words {
		return "", "", ""
	}
	return split[0], split[1], split[2]
}

func vehicleCar(n int, mk, model, code, body string, label tratest.Listed) listingtest.Car {
	const first = 9_300_001
	return listingtest.Car{
		Page: "exporter", Ref: fmt.Sprintf("LN%06d", n), ID: first + n, Make: mk, Model: model, Body: body,
		Code: "DBA-" + code, Frame: fmt.Sprintf("%s-%07d", code, n+1), Version: "G",
		Registration: fmt.Sprintf("%d/3", label.Years[len(label.Years)-1]), Engine: "-",
		Fuel: "Petrol", Price: 4000, Mileage: 60_000, M3: "10.8", Location: "KOBE", Transmission: "Automatic", Colour: "White",
		Images: 1, Shows: "a vehicle of its own",
	}
}
