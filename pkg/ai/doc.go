// Package ai asks language models closed questions over the OpenAI chat
// completions API, as OpenAI, Ollama, vLLM and others speak it.
//
// A question is an instruction of ours, data and pictures of strangers and a schema. The
// data goes in as named fields between random delimiters, cut and cleaned; the
// answer comes back through a strict JSON schema and is validated again here,
// because a server may ignore the schema. What a model says is data: the
// caller decides what it may set.
//
// Several endpoints are asked in order of preference, each once; one that
// fails is left alone for a while. There is no waiting and no second try of
// the same endpoint inside: callers that have a queue retry better (see
// Error.RetryAfter). Tokens are counted against a budget per day, and valid
// answers are kept by the hash of the whole question.
package ai
