package transcribe

// Transcript is what the model copied: its answers to the three questions. It is
// not trusted before package interpret has checked it. An empty text means that
// nothing is printed, which closed lists call sheet.NotPrinted; sheet.NotReadable
// means that something illegible is printed.
type Transcript struct {
	Classification Classification `json:"gate"`
	Reading        Reading        `json:"sheet"`
	Second         *SecondReading `json:"again"` // nil when there is none
}

// Classification is the answer to the first question: what the image shows.
type Classification struct {
	Kind            string   `json:"kind"`
	Anchors         []string `json:"anchors"`
	IsAuctionSheet  bool     `json:"is_auction_sheet"`
	FilledIn        bool     `json:"filled_in"`
	MakesSense      bool     `json:"makes_sense"`
	Readability     string   `json:"readability"`
	UnreadableAreas []string `json:"unreadable_areas"`
}

// Reading is the answer to the second question: what is printed where.
type Reading struct {
	House         House             `json:"house"`
	Lot           string            `json:"lot"`
	AuctionDate   string            `json:"auction_date"`
	Vehicle       Vehicle           `json:"vehicle"`
	Dates         Dates             `json:"dates"`
	Mileage       Mileage           `json:"mileage"`
	Grades        Grades            `json:"grades"`
	Repair        string            `json:"repair_history"`
	Equipment     []string          `json:"equipment"`
	Notes         []Note            `json:"notes"`
	Legend        []LegendLine      `json:"legend"`
	Map           []Mark            `json:"map"`
	Tyres         Tyres             `json:"tyres"`
	GlassCircled  []string          `json:"glass_circled"`
	InsideCircled []string          `json:"inside_circled"`
	MeterCircled  string            `json:"meter_circled"`
	Documents     Documents         `json:"documents"`
	Said          map[string]Answer `json:"said"`    // on the grave matters of sheet.Subjects
	Clarity       map[string]string `json:"clarity"` // how clearly each block can be read, by the model's own word
}

// Answer is yes, no or not_said, with what the sheet writes.
type Answer struct {
	Answer string `json:"answer"`
	Quote  string `json:"quote"`
}

// House is the auction house.
type House struct {
	Name   string `json:"name"`
	Basis  string `json:"basis"`
	Corner string `json:"corner"`
}

// Vehicle is the car as printed.
type Vehicle struct {
	NameJP         string `json:"name_jp"`
	Name           string `json:"name"`
	Trim           string `json:"trim"`
	DoorsShape     string `json:"doors_shape"`
	ModelCode      string `json:"model_code"`
	ChassisNo      string `json:"chassis_no"`
	CC             string `json:"cc"`
	Fuel           string `json:"fuel"`
	Drive          string `json:"drive"`
	Shift          string `json:"shift"`
	AirCon         string `json:"air_conditioning"`
	Seats          string `json:"seats"`
	Steering       string `json:"steering"`
	ImportChannel  string `json:"import_channel"`
	ModelYear      string `json:"model_year"`
	Use            string `json:"use_history"`
	Colour         string `json:"colour"`
	ColourNo       string `json:"colour_no"`
	InteriorColour string `json:"interior_colour"`
	Dims           string `json:"dims"`
	Load           string `json:"load"`
}

// Dates are dates as printed.
type Dates struct {
	FirstRegistration string `json:"first_registration"`
	ShakenUntil       string `json:"shaken_until"`
	NameChange        string `json:"name_change_deadline"`
}

// Mileage is the row of digit boxes.
type Mileage struct {
	Digits string `json:"digits"`
	Unit   string `json:"unit"`
	Flag   string `json:"flag"`
}

// Grades are the three grades.
type Grades struct {
	Overall  string `json:"overall"`
	Exterior string `json:"exterior"`
	Interior string `json:"interior"`
}

// Note is one finding, claim or option.
type Note struct {
	Author string `json:"author"`
	JP     string `json:"jp"`
	Kind   string `json:"kind"`
	Area   string `json:"area"`
	EN     string `json:"en"`
	SW     string `json:"sw"`
}

// LegendLine is a line of the printed legend of codes.
type LegendLine struct {
	Code string `json:"code"`
	JP   string `json:"jp"`
}

// Mark is a code on the car map.
type Mark struct {
	Panel string `json:"panel"`
	Side  string `json:"side"`
	Code  string `json:"code"`
}

// Tyres are treads as printed.
type Tyres struct {
	FrontLeft  string `json:"front_left"`
	FrontRight string `json:"front_right"`
	RearLeft   string `json:"rear_left"`
	RearRight  string `json:"rear_right"`
	Spare      string `json:"spare"`
}

// Documents are the papers.
type Documents struct {
	ServiceBook string   `json:"service_book"`
	Manual      string   `json:"manual"`
	Warranty    string   `json:"warranty"`
	Recycle     string   `json:"recycle_yen"`
	Later       []string `json:"items_later"`
}

// SecondReading is the answer to the third question: the most important values once
// more. The model does not see its first answer.
type SecondReading struct {
	Boxes             []string `json:"mileage_boxes"` // from left to right, "" for an empty one
	Unit              string   `json:"unit"`
	Flag              string   `json:"flag"`
	Overall           string   `json:"overall"`
	Exterior          string   `json:"exterior"`
	Interior          string   `json:"interior"`
	Repair            string   `json:"repair_history"`
	Colour            string   `json:"colour"`
	FirstRegistration string   `json:"first_registration"`
}
