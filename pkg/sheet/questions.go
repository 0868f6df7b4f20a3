package sheet

// Questions that no red flag raises, of Ask.About.
const (
	AskRepair  = "repair_not_stated"
	AskService = "service_record"
	AskYear    = "manufacture"
	AskEngine  = "engine"
)

// questions are what to ask before paying: those of the red flags, and what
// sheets leave open.
func questions(r *Report) []Ask {
	list := []Ask{}
	for _, flag := range r.RedFlags {
		about := flag.Rule
		if about == FlagRepairHistory {
			about = FlagRepairGrade // one question for both
		}
		if !asked(list, about) {
			list = append(list, Ask{about, textOf("ask", about).text})
		}
	}
	if r.RepairHistory.Status == RepairNotStated {
		list = append(list, Ask{AskRepair, textOf("ask", AskRepair).text})
	}
	if book := r.Documents.ServiceBook; book == nil || !*book {
		list = append(list, Ask{AskService, textOf("ask", AskService).text})
	}
	if r.Vehicle.ImportChannel != nil || r.Dates.FirstRegistration != nil {
		list = append(list, Ask{AskYear, textOf("ask", AskYear).text})
	}
	return append(list, Ask{AskEngine, textOf("ask", AskEngine).text})
}

func asked(list []Ask, about string) bool {
	for _, ask := range list {
		if ask.About == about {
			return true
		}
	}
	return false
}
