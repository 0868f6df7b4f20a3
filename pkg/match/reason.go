package match

import (
	"ushuru/pkg/chassis"
	"ushuru/pkg/tra"
	"ushuru/pkg/vehicle"
)

// reason explains in one sentence why a label was chosen.
func (q *query) reason(code chassis.Code, listed string, label tra.Label, how relation) string {
	text := "chassis code " + code.Code
	if code.Frame {
		text += ", taken from the frame number,"
	}
	if listed != code.Code {
		text += " is listed as " + listed
	} else {
		text += " is listed"
	}
	under := label.Make.Name + " " + label.Model
	if others := q.entries.ByCode(listed); len(others) > 1 {
		return text + " under " + models(others) + "; the " + q.source() + " names " + label.Model
	}
	text += " once under " + under
	switch how {
	case notGiven:
		text += "; the " + q.source() + " gives no model"
	case form, sibling, unknown:
		text += "; the " + q.source() + " says " + quote(q.car.Model)
	case same, other:
	}
	return text
}

// makeAdjustment reports a make that TRA spells otherwise. It is never nil.
func (q *query) makeAdjustment(label tra.Label) []vehicle.Adjustment {
	if chassis.Normalise(q.car.Make) == chassis.Normalise(label.Make.Name) {
		return []vehicle.Adjustment{}
	}
	return []vehicle.Adjustment{{
		Field: "make", From: q.car.Make, To: label.Make.Name, Reason: "TRA writes the make as " + label.Make.Name,
	}}
}

// modelAdjustment reports a model that differs from the listing's. The field
// model means that another name was substituted, which makes the match low; the
// field modelBody means another form of the same name, which is minor.
func (q *query) modelAdjustment(label tra.Label, how relation) []vehicle.Adjustment {
	a := vehicle.Adjustment{Field: "modelBody", From: q.car.Model, To: label.Text}
	switch how {
	case notGiven:
		a.Reason = "the " + q.source() + " gives no model; the chassis code has one entry"
	case form:
		a.Reason = "TRA writes the model as " + label.Model
	case sibling:
		a.Field, a.To = "model", label.Model
		a.Reason = "TRA lists this chassis code only under " + label.Model + ", a longer or shorter form of the model name"
	case unknown:
		a.Field, a.To = "model", label.Model
		a.Reason = "TRA lists this chassis code under " + label.Model + ", not under the " + q.source() + "'s model name"
	case same, other:
		return nil
	}
	return []vehicle.Adjustment{a}
}
