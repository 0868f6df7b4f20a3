package request

import (
	"net/url"

	"ushuru/pkg/message"
	"ushuru/pkg/plainjson"
	"ushuru/pkg/vehicle"
)

// Representation is how a caller reads the result of a job: on which terms, in which language,
// with which members, and whether with the source of each value. Callers of one job share its
// work, and each has a representation of its own in the query of the job's URL.
type Representation struct {
	message.View // of the sentences

	Terms   vehicle.Terms // on which the cost is wanted
	Explain bool          // the source of each value is wanted
	Fields  Fields        // that are wanted of the result
	Tags    Tags          // of the job and its event
}

// QueryString returns the representation as the query of a URL, "" for the usual one.
func (v Representation) QueryString() string {
	query := url.Values{}
	if !v.Terms.Rate.IsZero() {
		query.Set("rate", v.Terms.Rate.String())
	}
	if v.Terms.Landing != nil {
		query.Set("landing", v.Terms.Landing.From+".."+v.Terms.Landing.To)
	}
	if v.Terms.Target != nil {
		query.Set("target", v.Terms.Target.OnTheRoadTZS.String())
	}
	if v.Terms.ByMonth {
		query.Set("byMonth", "true")
	}
	if v.Terms.Costs != nil {
		if data, err := plainjson.Encode(v.Terms.Costs); err == nil {
			query.Set("costs", string(data))
		}
	}
	if v.Explain {
		query.Set("explain", "true")
	}
	if lang := v.Asked(); lang != "" {
		query.Set("lang", lang)
	}
	if v.Fields.asked != "" {
		query.Set("fields", v.Fields.asked)
	}
	v.Tags.SetQuery(query)
	return query.Encode()
}

// At returns the URL at which a path is read in this representation.
func (v Representation) At(path string) string {
	if query := v.QueryString(); query != "" {
		return path + "?" + query
	}
	return path
}
