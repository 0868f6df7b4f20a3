// Package ai sends closed questions to language models: over the chat completions API of
// OpenAI, which Ollama, vLLM and others implement too.
//
// A question is our instruction, untrusted data and images, and a schema. The data
// is sent as named fields between random delimiters, truncated and cleaned; the
// answer follows a strict JSON schema and is validated again here, because a
// server may ignore the schema. An answer is data: the caller decides which
// values it may set.
//
// Several endpoints are called in order of preference, each once; one that fails
// is skipped during a cooldown. The package does not wait or retry, because
// callers with a queue retry better (see Error.RetryAfter). Tokens count against
// a daily budget, and valid answers are cached by the hash of the whole question.
package ai
