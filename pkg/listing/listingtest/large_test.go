package listingtest_test

import (
	"reflect"
	"testing"

	"ushuru/pkg/listing"
	"ushuru/pkg/listing/listingtest"
)

func TestTheLargePageIsOfTheSameCar(t *testing.T) {
	t.Parallel()
	small, err := listing.Read(t.Context(), listing.FromFile(listingtest.Large(0), ""))
	if err != nil {
		t.Fatal(err)
	}
	body := listingtest.Large(600_000)
	large, err := listing.Read(t.Context(), listing.FromFile(body, ""))
	if err != nil || !reflect.DeepEqual(large.Car, small.Car) || len(body) < 600_000 || len(body) > 610_000 {
		t.Errorf("%d bytes: %+v, %v; want %+v", len(body), large, err, small.Car)
	}
}
