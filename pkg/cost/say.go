package cost

import (
	"strconv"

	"ushuru/pkg/message"
	"ushuru/pkg/vehicle"
)

type values = message.Values

// say returns a text of the table of texts.
func say(key string, v values) vehicle.Text { return message.Say(key, v) }

func itoa(n int) string { return strconv.Itoa(n) }

func itoa64(n int64) string { return strconv.FormatInt(n, 10) }
