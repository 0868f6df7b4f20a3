package sheet

import "slices"

// The values of Ask.About that are not the rule of a red flag.
const (
	askRepair  = "repair_not_stated"
	askService = "service_record"
	askYear    = "manufacture"
	askEngine  = "engine"
)

// QuestionsFor returns what the buyer should ask before paying: the questions of
// the red flags, and those that sheets leave open.
func QuestionsFor(r *Report) []Ask {
	list := []Ask{}
	for _, flag := range r.RedFlags {
		about := flag.Rule
		switch about {
		case FlagRepairHistory:
			about = FlagRepairGrade // one question for both
		case FlagPoorGrade:
			continue
		}
		if !hasQuestion(list, about) {
			list = append(list, Ask{about, TextOf("ask", about)})
		}
	}
	if r.RepairHistory.Status == RepairNotStated {
		list = append(list, Ask{askRepair, TextOf("ask", askRepair)})
	}
	if book := r.Documents.ServiceBook; book == nil || !*book {
		list = append(list, Ask{askService, TextOf("ask", askService)})
	}
	if r.Vehicle.ImportChannel != nil || r.Dates.FirstRegistration != nil {
		list = append(list, Ask{askYear, TextOf("ask", askYear)})
	}
	if !hasQuestion(list, askEngine) {
		list = append(list, Ask{askEngine, TextOf("ask", askEngine)})
	}
	return list
}

func hasQuestion(list []Ask, about string) bool {
	return slices.ContainsFunc(list, func(ask Ask) bool { return ask.About == about })
}
