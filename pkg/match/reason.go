package match

import (
	"strings"

	"ushuru/pkg/chassis"
	"ushuru/pkg/message"
	"ushuru/pkg/tra/catalogue"
	"ushuru/pkg/vehicle"
)

// reason explains in one sentence why a label was chosen.
func (q *query) reason(code chassis.Code, listed string, label catalogue.Label, how relation) message.Notice {
	key, as := "match/code", ""
	if listed != code.Code {
		as = "as"
	}
	if others := q.entries.ByCode(listed); len(others) > 1 {
		key += ".several" + strings.Repeat("_", len(as)/2) + as
		with := q.values("code", code.Code, "listed", listed, "models", models(others), "model", label.Model)
		return q.ofFrame(code, message.New(key, with))
	}
	if as != "" {
		key += "." + as
	}
	under := values{"code": code.Code, "listed": listed, "under": label.Make.Name + " " + label.Model}
	why := q.ofFrame(code, message.New(key, under))
	switch how {
	case notGiven:
		return joined(why, message.New("match/no_model", q.values()))
	case form, sibling, unknown:
		return joined(why, message.New("match/says_model", q.values("model", clip(q.car.Model))))
	case same, other:
	}
	return why
}

// ofFrame adds to a reason that the code is that of a frame number.
func (q *query) ofFrame(code chassis.Code, why message.Notice) message.Notice {
	if !code.Frame {
		return why
	}
	return joined(why, message.New("match/frame", nil))
}

// values returns values by name, with the source of the car.
func (q *query) values(pairs ...string) values { return sourced(q.car, pairs...) }

func sourced(car vehicle.Car, pairs ...string) values {
	with := values{"source": car.Source.Key()}
	for i := 0; i+1 < len(pairs); i += 2 {
		with[pairs[i]] = pairs[i+1]
	}
	return with
}

// of returns values by name, with the source of a field of the car.
func (q *query) of(field string, pairs ...string) values {
	with := sourced(q.car, pairs...)
	with["source"] = q.car.SourceOf(field).Key()
	return with
}

// makeAdjustment reports a make that TRA spells otherwise. It is never nil.
func (q *query) makeAdjustment(label catalogue.Label) []vehicle.Adjustment {
	if chassis.Normalise(q.car.Make) == chassis.Normalise(label.Make.Name) {
		return []vehicle.Adjustment{}
	}
	made := vehicle.Adjusted("make", q.car.Make, label.Make.Name, "make_name", values{"make": label.Make.Name})
	return []vehicle.Adjustment{made}
}

// modelAdjustment reports a model that differs from the listing's. The field
// model means that another name was substituted, which makes the match low; the
// field modelBody means another form of the same name, which is minor. The variant of
// the reason is that of a match by code, or empty.
func (q *query) modelAdjustment(label catalogue.Label, how relation, variant string) []vehicle.Adjustment {
	field, key, to := "modelBody", "", label.Text
	switch how {
	case notGiven:
		key = "model_not_given" + variant
	case form:
		key = "model_form"
	case sibling:
		field, key, to = "model", "model_sibling"+variant, label.Model
	case unknown:
		field, key, to = "model", "model_unknown"+variant, label.Model
	case same, other:
		return nil
	}
	return []vehicle.Adjustment{vehicle.Adjusted(field, q.car.Model, to, key, q.values("model", label.Model))}
}
