package tasks

import "ushuru/pkg/jobs"

// KindPicture is the kind of a job that fetches a picture of a car for the pages. Its
// step caches the picture; the result says nothing.
const KindPicture = "picture"

// StepPicture is the step of a picture.
const StepPicture = "picture"

// PictureInput is the input of a picture: its address as a listing names it.
type PictureInput struct {
	URL string `json:"url"`
}

func advancePicture(job *jobs.Job) (Next, error) { return sequence(job, StepPicture) }
