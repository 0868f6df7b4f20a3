package listing

// fixtures are the hand-written pages of testdata and where each would stand.
// Their structure is that of listing pages; their cars are made up.
var fixtures = map[string]string{
	"beforward":   beForwardURL,
	"dealer":      dealerURL,
	"jpauc":       "https://jpauc.com/auction/past/detail/900009098",
	"aleado":      "https://auctions.zervtek.com/auctions/?p=project/lot&id=900000123&s",
	"ajes":        "https://prestigemotorsport.com.au/auction-vehicle-display/?car_id=abc123",
	"carvector":   "https://carvector.com/stat/mazda/demio/00000000-0000-4000-8000-000000000001",
	"carused":     "https://carused.jp/car-list/detail/honda/vezel/x/CU10345",
	"autocom":     "https://autocj.co.jp/usedcar?stock=R00077123",
	"autocom-old": "https://autocj.co.jp/usedcar?stock=R00066001",
}
