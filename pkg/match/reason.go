package match

import (
	"ushuru/pkg/chassis"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// reason says in one sentence why a label was chosen.
func (q *query) reason(code chassis.Code, listed string, label tra.Label, how relation) string {
	text := "chassis code " + code.Code
	if code.Frame {
		text += ", read from the frame number,"
	}
	if listed != code.Code {
		text += " is listed as " + listed
	} else {
		text += " is listed"
	}
	under := label.Make.Name + " " + label.Model
	if others := q.entries.ByCode(listed); len(others) > 1 {
		return text + " under " + models(others) + "; the listing names " + label.Model
	}
	text += " once under " + under
	switch how {
	case unsaid:
		text += "; the listing names no model"
	case form, sibling, unknown:
		text += "; the listing says " + quote(q.car.Model)
	case same, other:
	}
	return text
}

// modelAdjustment reports a model that is not the listing's own. Field model
// means that another name was substituted, which makes the match low; field
// modelBody that the name is the same but for its form, which is minor.
func (q *query) modelAdjustment(label tra.Label, how relation) []vehicle.Adjustment {
	a := vehicle.Adjustment{Field: "modelBody", From: q.car.Model, To: label.Text}
	switch how {
	case unsaid:
		a.Reason = "the listing names no model; the chassis code names one entry"
	case form:
		a.Reason = "the authority writes the model as " + label.Model
	case sibling:
		a.Field, a.To = "model", label.Model
		a.Reason = "the authority has this chassis code only under the longer or shorter name " + label.Model
	case unknown:
		a.Field, a.To = "model", label.Model
		a.Reason = "the authority has no model of the listing's name; it has the chassis code under " + label.Model
	case same, other:
		return nil
	}
	return []vehicle.Adjustment{a}
}
