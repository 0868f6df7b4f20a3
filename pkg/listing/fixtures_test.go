package listing

// fixtures are the hand-written pages of testdata and where each would stand.
// Their structure is that of listing pages; their cars are made up.
var fixtures = map[string]string{
	"beforward":          beForwardURL,
	"beforward-tanzania": beForwardURL + "?tp_country_id=40",
	"dealer":             dealerURL,
	"jpauc":              "https://jpauc.com/auction/past/detail/900009098",
	"aleado":             "https://auctions.zervtek.com/auctions/?p=project/lot&id=900000123&s",
	"ajes":               "https://prestigemotorsport.com.au/auction-vehicle-display/?car_id=abc123",
	"carvector":          "https://carvector.com/stat/mazda/demio/00000000-0000-4000-8000-000000000001",
	"carused":            "https://carused.jp/car-list/detail/honda/vezel/x/CU10345",
	"autocom":            "https://autocj.co.jp/usedcar?stock=R00077123",
	"autocom-old":        "https://autocj.co.jp/usedcar?stock=R00066001",

	"cardealpage":      "http://www.cardealpage.com/nissan/ad%20van/20771204/",
	"goonet":           "https://www.goo-net-exchange.com/usedcars/TOYOTA/LAND_CRUISER_PRADO/700056789030260815001/",
	"sbt":              "https://www.sbtjapan.com/used-cars/ZQW1874",
	"tcv":              "https://www.tc-v.com/used_car/subaru/legacy%20touring%20wagon/43990804/",
	"carfromjapan":     "https://carfromjapan.com/cheap-used-toyota-land-cruiser-prado-2015-for-sale-0123456789abcdef01234567",
	"picknbuy24":       "https://www.picknbuy24.com/detail/toyota/prius/0190000268.html",
	"japanesecartrade": "https://www.japanesecartrade.com/2700078-japan-used-toyota-crown-sedan-car-2004.html",
	"jpctrade":         "https://www.jpctrade.com/2700099-japan-used-toyota-vitz-2010.html",
	"nikkyo":           "https://www.nikkyocars.com/n2014/stock/stock-view.asp?lang=en&code=990001",
	"enhanceauto":      "https://www.enhanceauto.com/car/1",
	"stc":              "https://stcjapan.net/Car-Details/10021",
	"kiswahili":        "https://magari.example.com/gari/1",
	"japanese":         "https://kuruma.example.com/1",
}
