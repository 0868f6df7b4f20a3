package cli

import (
	"errors"
	"strings"

	"ushuru/pkg/ai"
	"ushuru/pkg/match"
	"ushuru/pkg/match/selection"
)

// endpoints parses the lists of the settings. It returns none when the AI is
// disabled. Its errors contain no setting that may hold a secret.
func (c AIConfig) endpoints() ([]ai.Endpoint, error) {
	if c.AIModel == "" {
		if c.AIAPIKey != "" {
			return nil, errors.New("AI_API_KEY is set but AI_MODEL is empty: the AI is disabled")
		}
		return nil, nil
	}
	models, urls := commaList(c.AIModel), commaList(c.AIBaseURL)
	keys := make([]string, len(models))
	if c.AIAPIKey != "" {
		keys = commaList(string(c.AIAPIKey))
	}
	if len(urls) != len(models) || len(keys) != len(models) {
		return nil, errors.New("AI_BASE_URL and AI_API_KEY need as many entries as AI_MODEL, or none")
	}
	endpoints := make([]ai.Endpoint, len(models))
	for i, model := range models {
		endpoints[i] = ai.Endpoint{BaseURL: urls[i], Model: model, Key: ai.Key(keys[i])}
	}
	_, err := ai.New(ai.Options{Endpoints: endpoints}) // which checks each
	return endpoints, err
}

func commaList(setting string) []string {
	entries := strings.Split(setting, ",")
	for i := range entries {
		entries[i] = strings.TrimSpace(entries[i])
	}
	return entries
}

// options returns the options of the AI client. Without endpoints there is no
// AI.
func (c AIConfig) options() (ai.Options, error) {
	endpoints, err := c.endpoints()
	return ai.Options{Endpoints: endpoints, DailyTokens: c.Day.AIDailyTokens, AnswerTTL: aiAnswerTTL}, err
}

// model returns the AI of the settings for a command that has no Redis: no
// answer is cached and no token counted. It is nil without an AI.
func (r *run) model(config AIConfig) (*ai.Client, error) {
	options, err := config.options()
	if err != nil || len(options.Endpoints) == 0 {
		return nil, err
	}
	options.DailyTokens, options.AnswerTTL, options.Log = 0, 0, r.log
	client, err := ai.New(options)
	if err != nil {
		return nil, err
	}
	r.cleanup.Add(client.Close)
	return client, nil
}

// Matching returns how cars are matched by settings of the AI.
type Matching func(AIConfig) (match.Options, error)

// matching returns how cars are matched: with the AI of the settings, or
// without.
func (r *run) matching(config AIConfig) (match.Options, error) {
	model, err := r.model(config)
	if err != nil || model == nil {
		return match.Options{}, err
	}
	return match.Options{Chooser: selection.NewAI(model).Choose}, nil
}
