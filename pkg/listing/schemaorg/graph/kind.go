package graph

import (
	"slices"
	"strings"
)

// VehicleTypes are the vehicle types of schema.org, and MotorVehicle, which sites
// invented.
var VehicleTypes = []string{"Car", "Vehicle", "MotorVehicle", "Motorcycle", "MotorizedBicycle", "BusOrCoach"}

// IsVehicle accepts the vehicle types, and a Product or a thing without type
// that has a sign of a vehicle.
func IsVehicle(n *Node) bool {
	if IsTypedVehicle(n) {
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

// IsTypedVehicle reports a node that is called a vehicle by its type.
func IsTypedVehicle(n *Node) bool {
	return n.Is(VehicleTypes...) || slices.Contains(VehicleTypes, n.Word("additionalType"))
}

// IsProduct reports a node of a product type.
func IsProduct(n *Node) bool { return n.Is("Product", "IndividualProduct") }
