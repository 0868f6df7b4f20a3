# The commands of the daily work; `make` lists them.

.DEFAULT_GOAL := help
E2E := ./pkg/internal/testing/e2e
.PHONY: help run test test-long lint sbom fuzz contract attacks chaos faults property upgrade release night bench ci

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: ## run the demo: everything in one process, with SIMULATED figures
	go run . demo

test: ## run the short tier of the tests; a test that lacks a program is skipped
	go test ./...

test-long: ## run all tests: attacks, faults, failovers, whole browser suites too
	USHURU_TEST=long go test -timeout 40m ./...

lint: ## run golangci-lint, as CI does
	golangci-lint run

sbom: ## write the bill of materials of the production build (CycloneDX)
	go build -tags production -o .release/ushuru .
	go run github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0 bin -json -output sbom.cdx.json .release/ushuru

fuzz: ## run every fuzz target for 30 seconds
	.ci/fuzz 30s

contract: ## send 20,000 generated and 20,000 raw requests of four seeds and compare the answers with openapi.yaml
	for seed in 1 2 3 4; do go test ./api -run 'TestContractHoldsForGeneratedRequests|TestRawRequestsAreAnsweredInJSON' \
		-v -timeout 60m -contract.seed $$seed -contract.requests 5000 -contract.raw 5000 || exit 1; done

attacks: ## attack the service in full and print what the victim noticed; ATTACKS=-update writes it into SECURITY.md
	USHURU_TEST=long USHURU_ATTACK=full go test $(E2E) -run TestAttack -count 1 -v -timeout 60m $(ATTACKS)
	USHURU_TEST=long USHURU_ATTACK=full go test ./api ./pkg/fetch -run TestAttack -count 1 -v -p 1

chaos: ## kill workers, APIs and Redis during a batch of 2,000 listings
	USHURU_TEST=long go test $(E2E) -run TestChaosChangesNoResult -v -timeout 40m -chaos 2000 -chaos.seed 0

faults: ## interrupt batches with every fault and print what each costs; FAULTS="-fault.away 10m" for long ones
	USHURU_TEST=long go test $(E2E) -run TestFaults -v -timeout 3h -fault.rows 600 -fault.rounds 3 -fault.clock $(FAULTS)

property: ## check the job engine with 2,000 random sequences of events
	go test ./worker -run TestJobsEndOnceWhateverCrashes -v -timeout 40m -rapid.checks 2000

night: ## provoke every alert with a real Prometheus (15 minutes); NIGHT=-update writes what is seen into docs/night.md
	USHURU_TEST=long go test $(E2E) -run TestAlertsAreProvoked -count 1 -v -timeout 60m -night $(NIGHT)

upgrade: ## mix this version with an earlier one in an upgrade and a rollback; FROM=COMMIT
	USHURU_TEST=long go test $(E2E) -run TestUpgradeAndRollbackLoseNothing -v -count 1 -upgrade.from $(or $(FROM),519f44f) -upgrade.rows 200

release: ## build archives, packages, bill of materials and checksums into dist, and try the archive; takes 15 minutes
	go run github.com/goreleaser/goreleaser/v2@v2.13.0 check
	go run github.com/goreleaser/goreleaser/v2@v2.13.0 release --snapshot --clean
	USHURU_TEST=long go test $(E2E) -run TestFirstEstimateInACleanRoot -v -count 1 -archive $$(ls $(CURDIR)/dist/ushuru_*_linux_$$(go env GOARCH).tar.gz)

bench: ## measure batches, matching and reading pages
	go run ./pkg/lab bench batch
	go run ./pkg/lab bench match
	go run ./pkg/lab bench read

ci: ## run everything that CI runs; it installs what is missing
	.ci/run
