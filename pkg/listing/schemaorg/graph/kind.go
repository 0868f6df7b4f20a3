package graph

import (
	"slices"
	"strings"
)

// VehicleTypes are those of schema.org, and one that sites have made up.
var VehicleTypes = []string{"Car", "Vehicle", "MotorVehicle", "Motorcycle", "MotorizedBicycle", "BusOrCoach"}

// IsVehicle accepts the vehicle types, and a Product or a thing without type
// that has a sign of a vehicle.
func IsVehicle(n *Node) bool {
	if n.Is(VehicleTypes...) || slices.Contains(VehicleTypes, n.Word("additionalType")) {
		return true
	}
	if n.Typed && !IsProduct(n) {
		return false
	}
	for property := range n.Props {
		if strings.HasPrefix(property, "vehicle") || property == "mileageFromOdometer" {
			return true
		}
	}
	return false
}

func IsProduct(n *Node) bool { return n.Is("Product", "IndividualProduct") }
