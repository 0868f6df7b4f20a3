package listingtest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Car is a made-up car of the site, as its page shows it.
type Car struct {
	Page         string `json:"page"` // exporter or dealer: which kind of page it has
	Ref          string `json:"ref"`
	ID           int    `json:"id"`
	Make         string `json:"make"`
	Model        string `json:"model"`
	Body         string `json:"body"`
	Code         string `json:"code"` // chassis code with prefix; "" when the page gives none
	Frame        string `json:"frame"`
	Version      string `json:"version"`
	Registration string `json:"registration"` // year/month
	Manufacture  string `json:"manufacture"`  // year/month; "" when the page gives none
	YearsOld     int    `json:"years_old"`    // in place of both: made so many calendar years ago, whenever that is
	Engine       string `json:"engine"`
	Fuel         string `json:"fuel"`
	Price        int    `json:"price"`   // FOB, whole USD
	Total        int    `json:"total"`   // C&F Dar es Salaam, whole USD; 0 when the page gives none
	Mileage      int    `json:"mileage"` // km
	M3           string `json:"m3"`
	Location     string `json:"location"`
	Transmission string `json:"transmission"`
	Images       int    `json:"images"`
	Colour       string `json:"colour"` // "" when the page gives none
	Shows        string `json:"shows"`  // what the car is there to show
}

//go:embed cars.json
var carData []byte

var cars = func() (list []Car) {
	if err := json.Unmarshal(carData, &list); err != nil {
		panic("listingtest: cars.json: " + err.Error())
	}
	for i := range list {
		date(&list[i], time.Now())
	}
	return list
}()

// date gives a car whose age is what it shows its dates: made in December and
// registered in January, so that the two are of different years.
func date(c *Car, now time.Time) {
	if c.YearsOld == 0 {
		return
	}
	made := now.UTC().Add(3*time.Hour).Year() - c.YearsOld // the year is that of Dar es Salaam
	c.Manufacture = fmt.Sprintf("%d/12", made)
	c.Registration = fmt.Sprintf("%d/1", made+1)
}

// Cars returns the cars of the site.
func Cars() []Car { return append([]Car(nil), cars...) }

// Path returns the path of the car's page.
func (c Car) Path() string {
	slug := func(s string) string { return strings.ReplaceAll(strings.ToLower(s), " ", "-") }
	if c.Page == "dealer" {
		return fmt.Sprintf("/stock/%s/%d", slug(c.Make+" "+c.Model), c.ID)
	}
	return fmt.Sprintf("/%s/%s/%s/id/%d/", slug(c.Make), slug(c.Model), slug(c.Ref), c.ID)
}

// Year returns the four digits of the registration.
func (c Car) Year() string { return c.Registration[:4] }

// Pictures returns the paths of the car's pictures.
func (c Car) Pictures() []string {
	paths := make([]string, c.Images)
	for i := range paths {
		paths[i] = fmt.Sprintf("/images/%s_%d.png", c.Ref, i+1)
	}
	return paths
}

// Dollars writes whole USD as pages do: $6,150.
func (Car) Dollars(amount int) string { return "$" + thousands(amount) }

// Kilometres writes the mileage as pages do: 88,400.
func (c Car) Kilometres() string { return thousands(c.Mileage) }

func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}
