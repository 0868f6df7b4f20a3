package sheettest

// panel is a part of the unfolded car, front at the top. Its place is in parts
// of the drawing, 0 to 1000, of the left side; the right side is mirrored.
type panel struct {
	name   string
	sided  bool
	x0, y0 int
	x1, y1 int
}

// panels are in the order of the car, front to back.
var panels = []panel{
	{name: "front_bumper", x0: 300, y0: 0, x1: 700, y1: 70},
	{name: "bonnet", x0: 330, y0: 80, x1: 670, y1: 260},
	{name: "windscreen", x0: 350, y0: 270, x1: 650, y1: 345},
	{name: "roof", x0: 350, y0: 355, x1: 650, y1: 630},
	{name: "rear_window", x0: 350, y0: 640, x1: 650, y1: 705},
	{name: "boot", x0: 330, y0: 715, x1: 670, y1: 910},
	{name: "rear_bumper", x0: 300, y0: 920, x1: 700, y1: 1000},
	{name: "front_fender", sided: true, x0: 60, y0: 90, x1: 290, y1: 260},
	{name: "front_door", sided: true, x0: 60, y0: 280, x1: 290, y1: 455},
	{name: "rear_door", sided: true, x0: 60, y0: 465, x1: 290, y1: 640},
	{name: "rear_fender", sided: true, x0: 60, y0: 650, x1: 290, y1: 860},
	{name: "sill", sided: true, x0: 0, y0: 280, x1: 50, y1: 640},
}

// Sides of the car.
const (
	left  = "left"
	right = "right"
)

// on returns where the panel is within the drawing.
func (p panel) on(side string) (x0, y0, x1, y1 int) {
	if side == right {
		return 1000 - p.x1, p.y0, 1000 - p.x0, p.y1
	}
	return p.x0, p.y0, p.x1, p.y1
}
