package advice

import "ushuru/pkg/vehicle"

// Phrases shows the table to the tests.
func Phrases() map[string]vehicle.Text { return phrases }
