package tasks

import "ushuru/pkg/vehicle"

// Refusal is the Details of the error of a car that was not matched: what was
// found until then; or of a page that lists several cars.
type Refusal struct {
	Car        *vehicle.Car        `json:"car,omitempty"` // without its images
	Candidates []vehicle.Candidate `json:"candidates,omitempty"`
	Cars       []vehicle.ListedCar `json:"cars,omitempty"`
}

// Refuse returns the refusal of the subject with candidates.
func (s Subject) Refuse(candidates []vehicle.Candidate) Refusal {
	car := s.Car
	car.Images = []string{}
	return Refusal{Car: &car, Candidates: candidates}
}
