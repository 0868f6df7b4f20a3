package problem

import (
	"testing"
	"time"
)

// A problem stands in a variable for all requests: what one request adds to it is not
// what another one is answered.
func TestWhatIsAddedIsOfOneRequest(t *testing.T) {
	shared := NotFound("not_found")
	if got := shared.Of("make"); got.Param != "make" {
		t.Errorf("got %+v", got)
	}
	if got := shared.After(time.Minute); got.RetryAfter != time.Minute {
		t.Errorf("got %+v", got)
	}
	if shared.Param != "" || shared.RetryAfter != 0 {
		t.Errorf("the shared problem has become %+v", shared)
	}
}
