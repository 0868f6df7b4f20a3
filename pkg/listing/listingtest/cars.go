package listingtest

import (
	"embed"
	_ "embed"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"time"

	"golang.org/x/image/draw"
	"golang.org/x/image/font"
	"golang.org/x/image/font/basicfont"
	"golang.org/x/image/math/fixed"
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

// picture draws a car in a few shapes, with the car's name and the number of
// the picture.
func picture(w http.ResponseWriter, r *http.Request) {
	ref, number, _ := strings.Cut(strings.TrimSuffix(r.PathValue("name"), ".png"), "_")
	at, err := strconv.Atoi(number)
	for _, c := range cars {
		if c.Ref != ref || err != nil || at < 1 || at > c.Images {
			continue
		}
		w.Header().Set("Content-Type", "image/png")
		_ = png.Encode(w, c.drawn(at)) // the reader may have left
		return
	}
	http.NotFound(w, r)
}

// drawn is one of the pictures of a car, 640 by 480 pixels.
func (c Car) drawn(at int) image.Image {
	small := image.NewRGBA(image.Rect(0, 0, 320, 240))
	fill := func(area image.Rectangle, with color.Color) {
		draw.Draw(small, area, image.NewUniform(with), image.Point{}, draw.Src)
	}
	//nolint:gosec // ids are positive
	paint := color.RGBA{byte(c.ID * 47 % 256), byte(c.ID * 101 % 256), byte(c.ID * 13 % 256), 255}
	black := color.RGBA{A: 255}
	fill(small.Rect, color.RGBA{238, 238, 255, 255})
	for y := 85; y < 125; y++ { // the cabin is wider below
		fill(image.Rect(120-y/3, y, 190+y/3, y+1), paint)
	}
	fill(image.Rect(30, 122, 290, 160), paint)
	for _, wheel := range []image.Point{{90, 162}, {235, 162}} {
		for y := -22; y <= 22; y++ {
			for x := -22; x <= 22; x++ {
				if x*x+y*y <= 22*22 {
					small.Set(wheel.X+x, wheel.Y+y, black)
				}
			}
		}
	}
	for y, line := range map[int]string{
		36: fmt.Sprintf("SIMULATED %d/%d", at, c.Images), 222: c.Make + " " + c.Model,
	} {
		pen := font.Drawer{Dst: small, Src: image.NewUniform(black), Face: basicfont.Face7x13}
		pen.Dot = fixed.P(160-pen.MeasureString(line).Round()/2, y)
		pen.DrawString(line)
	}
	large := image.NewRGBA(image.Rect(0, 0, 640, 480))
	draw.NearestNeighbor.Scale(large, large.Rect, small, small.Rect, draw.Src, nil)
	return large
}

// The inspection sheets of some cars: SIMULATED ones, drawn by
// "ushuru simulate sheets --out DIR ID…" and kept here because a bare machine
// has no Japanese fonts. What stands on them is in pkg/sheet/sheettest.
//
//go:embed sheets
var sheetFiles embed.FS

// Sheet returns the path of the car's inspection sheet, "" when it has none.
func (c Car) Sheet() string {
	name := "sheets/" + strings.ToLower(c.Ref) + ".jpg"
	if _, err := fs.Stat(sheetFiles, name); err != nil {
		return ""
	}
	return "/" + name
}
