package tra

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// listRequest identifies a cached answer.
type listRequest struct {
	Call      string `json:"call"`
	Make      string `json:"make"`
	ModelBody string `json:"modelBody"`
	YOM       int    `json:"yom,omitempty"`
	Country   string `json:"country,omitempty"`
	Fuel      string `json:"fuel,omitempty"`
	Capacity  string `json:"capacity,omitempty"`
}

// key returns the answer's key in Redis.
func (q listRequest) key() (string, error) {
	text, err := json.Marshal(q)
	if err != nil {
		return "", fmt.Errorf("tra: request: %w", err)
	}
	sum := sha256.Sum256(text)
	return keyAnswer + hex.EncodeToString(sum[:16]), nil
}

func yearsOf(m Make, modelBody string) listRequest {
	return listRequest{Call: callYears, Make: m.Name, ModelBody: modelBody}
}

func countriesOf(m Make, modelBody string, yom int) listRequest {
	return listRequest{Call: callCountries, Make: m.Name, ModelBody: modelBody, YOM: yom}
}

func fuelsOf(m Make, modelBody string, yom int, country string) listRequest {
	return listRequest{Call: callFuels, Make: m.Name, ModelBody: modelBody, YOM: yom, Country: country}
}

func capacitiesOf(m Make, modelBody string, yom int, country, fuel string) listRequest {
	return listRequest{Call: callCapacities, Make: m.Name, ModelBody: modelBody, YOM: yom, Country: country, Fuel: fuel}
}

// detailsOf identifies a calculation by the name of its make.
func detailsOf(m Make, v Vehicle) listRequest {
	return listRequest{
		Call: callDetails, Make: m.Name, ModelBody: v.ModelBody, YOM: v.YOM,
		Country: v.Country, Fuel: v.FuelType, Capacity: v.EngineCapacity,
	}
}
