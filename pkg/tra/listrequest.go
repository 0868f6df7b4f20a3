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

// requestOf identifies the next list of a vehicle, or its calculation, by the name of its make.
func requestOf(m Make, v Vehicle) listRequest {
	call, _ := v.next()
	return listRequest{
		Call: call, Make: m.Name, ModelBody: v.ModelBody, YOM: v.YOM,
		Country: v.Country, Fuel: v.FuelType, Capacity: v.EngineCapacity,
	}
}
