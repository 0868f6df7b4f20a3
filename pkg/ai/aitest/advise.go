package aitest

import (
	"encoding/json"
	"fmt"
)

// advise words a comparison by the rule that it says who won, repeats the
// difference in dollars and the first point of each car, and nothing else. Of
// faults it knows InventValue, a saving that was not given, and WrongID,
// which praises the other car.
func advise(r *chatRequest, f fault) answer {
	a := answer{finish: "stop", promptTokens: r.promptTokens()}
	found := readData(r)
	verdict := map[string]string{}
	if len(found["verdict"]) > 0 {
		verdict = found["verdict"][0]
	}
	winner, numbers := verdict["winner"], map[string]string{"car1": "1", "car2": "2"}
	if f.WrongID {
		winner = map[string]string{"car1": "car2", "car2": "car1", "none": "car2"}[winner]
	}
	difference := verdict["difference_usd"]
	if f.InventValue {
		difference = "USD 77,777.77"
	}
	text := Mark + ": neither of the two is clearly ahead."
	money := " The difference on the road is %s, and that is the whole of it."
	equal := " With what is known, neither of the two costs less on the road than the other."
	switch {
	case verdict["language"] == "sw":
		text, money = Mark+": hakuna lililo mbele waziwazi.", " Tofauti ya gharama hadi kuwa barabarani ni %s, kwa magari mawili."
		equal = " Kwa kadiri inavyojulikana, gharama ya magari haya hadi kuwa barabarani ni sawa."
		if numbers[winner] != "" {
			text = fmt.Sprintf("%s: Gari %s ni bora.", Mark, numbers[winner])
		}
	case numbers[winner] != "":
		text = fmt.Sprintf("%s: Car %s is the better buy.", Mark, numbers[winner])
	}
	if difference == "" {
		text += equal
	} else {
		text += fmt.Sprintf(money, difference)
	}
	content, err := json.Marshal(map[string]string{"winner": winner, "text": text})
	if err != nil { // strings do not fail
		return a
	}
	a.content = string(content)
	return a
}
