package tra

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"ushuru/pkg/tra/catalogue"
)

// CheckedCall is one call of a Check.
type CheckedCall struct {
	Call   string `json:"call"`   // proxy, or the authority's name of the call
	Asked  string `json:"asked"`  // for what
	OK     bool   `json:"ok"`     //
	TookMS int64  `json:"tookMs"` //
	Got    string `json:"got,omitempty"`

	// Why the call failed.
	Kind   Kind   `json:"kind,omitempty"`
	Status int    `json:"status,omitempty"` // of HTTP
	Error  string `json:"error,omitempty"`
	Answer string `json:"answer,omitempty"` // its first bytes
}

// checker makes the calls one after the other until one fails.
type checker struct {
	client *Client
	calls  []CheckedCall
}

// Check makes each call of the authority in turn, as an estimate does, and ends with the
// first that fails. makeName is the make of the vehicle; "" chooses one. It caches nothing.
func (c *Client) Check(ctx context.Context, makeName string) []CheckedCall {
	k := &checker{client: c}
	if c.proxy != nil && !k.call("proxy", c.proxy.Host, func() (string, error) {
		_, err := c.DialProxy(ctx)
		return "reached", err
	}) {
		return k.calls
	}
	m, ok := k.makes(ctx, makeName)
	if !ok {
		return k.calls
	}
	v, asked := catalogue.Vehicle{MakeID: m.ID}, m.Name
	for v.EngineCapacity == "" {
		if asked, ok = k.list(listCalls[v.Next()], asked, func() ([]string, error) { return c.List(ctx, v) }); !ok {
			return k.calls
		}
		v = v.With(asked)
	}
	k.call(callDetails, asked, func() (string, error) { return k.details(ctx, v) })
	return k.calls
}

// makes lists the makes and chooses one: the named, else TOYOTA, else the first.
func (k *checker) makes(ctx context.Context, name string) (m catalogue.Make, ok bool) {
	ok = k.call(callMakes, "all makes", func() (string, error) {
		makes, err := k.client.Makes(ctx)
		if err != nil {
			return "", err
		}
		if len(makes) == 0 {
			return "", errEmptyList
		}
		m = makes[0]
		wanted := name
		if wanted == "" {
			wanted = "TOYOTA"
		}
		i := slices.IndexFunc(makes, func(m catalogue.Make) bool { return strings.EqualFold(m.Name, wanted) })
		if i < 0 && name != "" {
			return "", fmt.Errorf("none of the %d makes is %q", len(makes), name)
		}
		if i >= 0 {
			m = makes[i]
		}
		return fmt.Sprintf("%d makes, of which %s goes on", len(makes), m.Name), nil
	})
	return m, ok
}

var errEmptyList = errors.New("an empty list")

// list makes a call that lists values and chooses the last: the lists of years end with the
// newest.
func (k *checker) list(name, asked string, call func() ([]string, error)) (chosen string, ok bool) {
	ok = k.call(name, asked, func() (string, error) {
		values, err := call()
		if err == nil && len(values) == 0 {
			err = errEmptyList
		}
		if err != nil {
			return "", err
		}
		chosen = values[len(values)-1]
		return fmt.Sprintf("%d, of which %s goes on", len(values), chosen), nil
	})
	return chosen, ok
}

// details returns what a calculation says.
func (k *checker) details(ctx context.Context, v catalogue.Vehicle) (string, error) {
	tax, warnings, err := k.client.Details(ctx, v)
	if err != nil {
		return "", err
	}
	got := fmt.Sprintf("reference %s, total %s TZS", tax.ReferenceNumber, tax.TotalTaxesInTZS)
	if len(warnings) == 0 {
		return got, nil
	}
	// A worker does not keep such figures.
	var wrong []error
	for _, warning := range warnings {
		wrong = append(wrong, errors.New(warning.Message))
	}
	return got, &Error{Kind: BadAnswer, Call: callDetails, Status: http.StatusOK, cause: errors.Join(wrong...)}
}

// call makes one call and records it. It reports whether it succeeded.
func (k *checker) call(name, asked string, do func() (got string, err error)) bool {
	start := time.Now()
	got, err := do()
	c := CheckedCall{Call: name, Asked: asked, OK: err == nil, TookMS: time.Since(start).Milliseconds(), Got: got}
	if err != nil {
		c.Error = err.Error()
		if failure, ok := errors.AsType[*Error](err); ok {
			c.Kind, c.Status, c.Answer = failure.Kind, failure.Status, failure.excerpt
			if failure.cause != nil {
				c.Error += ": " + failure.cause.Error()
			}
		}
	}
	k.calls = append(k.calls, c)
	return c.OK
}
