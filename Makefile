# What people type. Each target is one or two lines; the work is done by SwiftPM and the scripts named here.

.DEFAULT_GOAL := help
.PHONY: help run demo build up down logs renew plan roll test test-one lint-docker test-compose test-postgres test-distributed test-failover test-nghttp2 check bench fuzz chaos drill test-upgrade soak-sessions soak-invites soak-kits format proto sbom release tidy lines docs docs-serve clean-data clean

# No search for libraries beside the program: it loads the system's alone.
RELEASE_BUILD := Sources/build-with-progress.sh -c release --static-swift-stdlib --disable-local-rpath
RELEASE_FOLDER := .build/release
DOCKER_COMPOSE ?= docker compose
export DOCKER_COMPOSE

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: build ## Build and start everything on this machine; Ctrl-C stops it
	@exec $(RELEASE_FOLDER)/vestibule run

demo: ## Walk the main story against what `make run` started
	@exec $(RELEASE_FOLDER)/vestibule demo

build: ## Build all programs for release, in one go
	@Sources/install-dependencies.sh
	@$(RELEASE_BUILD) --target programs

up: ## Build images and start everything in containers; DEV=1 adds simulator, ports, debug logs
	@docker/up.sh $(if $(DEV),dev)

down: ## Stop the containers; data and secrets stay
	@$(DOCKER_COMPOSE) --project-name vestibule down --remove-orphans

logs: ## Follow the containers' logs
	@$(DOCKER_COMPOSE) --project-name vestibule logs --follow --tail 100

renew: ## Renew certificates that end soon, and have the containers read them; for each day or week
	@docker/renew.sh

plan: ## Print what an upgrade of the containers to the images of VESTIBULE_TAG would do to their databases
	@docker/roll.sh --plan

roll: ## Replace the containers of SERVICE (identity, profile, invites, gateway) without a failed call
	@docker/roll.sh "$(SERVICE)"

test: ## Set up what the tests need and run them all; ONLY=invites or another part, or a suite, alone
	@Tests/Runner/run.py $(if $(ONLY),--only "$(ONLY)")

test-one: ## Build and run the Swift tests that FILTER, a regular expression, matches
	@Sources/build-with-progress.sh --build-tests
	@SWIFT_BACKTRACE=enable=no SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=$$(($$(nproc) * 3)) \
		swift test --skip-build --disable-xctest --filter "$(FILTER)"

lint-docker: ## Check the Dockerfiles with hadolint
	@Tests/Compose/setup.sh
	@.venv-compose/bin/hadolint docker/Dockerfile Tests/Compose/*/Dockerfile

test-compose: ## Prove the containers on an engine of the test's own; as root
	@Tests/Compose/run.sh

test-postgres: build ## Run what uses the database on PostgreSQL 16 and 18
	@Tests/PostgresVersions/run.sh

test-distributed: SECONDS ?= 60
test-distributed: build ## Run services and chaos of SECONDS (60) with serializable transactions and injected conflicts; check each statement's keys
	@Tests/Distributed/run.sh --seconds $(SECONDS)

test-failover: ROUNDS ?= 3
test-failover: build ## Kill PostgreSQL's leader under load, ROUNDS (3) times, with Patroni; nothing may be lost
	@Tests/Failover/run.sh --rounds $(ROUNDS)

check: ## Everything that CI checks, as CI does
	@.ci/run

sbom: ## Write what goes into each image, as CycloneDX, to sbom/
	@Tests/Supply/sbom.sh

release: ## Make a release of this commit in release/VERSION and tag it; REHEARSAL=1 does so without build and tag
	@docker/release/release.sh $(if $(REHEARSAL),--rehearse) "$(VERSION)"

bench: ## Measure against the peers in one run; writes bench.md. QUICK=1 measures the rows of README alone
	@Sources/install-dependencies.sh bench
	@python3 Tests/Performance/bench.py $(if $(QUICK),--quick)

test-nghttp2: ## Test the C layer against newer ones of nghttp2
	@Tests/CRPC/test-nghttp2.sh

fuzz: SECONDS ?= 60
fuzz: CONNECTIONS ?= 1000000
fuzz: ROUNDS ?= 200000
fuzz: ## Fuzz the C layer, each fuzzer for SECONDS (60), and cursors by ROUNDS (200000) inputs; compare HTTP/1.x over CONNECTIONS (1000000)
	@Sources/install-dependencies.sh test
	@Tests/Fuzz/run.sh $(SECONDS)
	@Tests/DecoderFuzzTests/run.sh $(ROUNDS)
	@Tests/HTTP1/run.sh $(CONNECTIONS)

chaos: SECONDS ?= 60
chaos: ROUNDS ?= 1
chaos: build ## Kill and freeze everything under load for SECONDS (60), ROUNDS (1) times, and look for what was lost
	@Sources/install-dependencies.sh test
	@Tests/Chaos/run.sh --seconds $(SECONDS) --rounds $(ROUNDS)

drill: ACCOUNTS ?= 1000000
drill: build ## Destroy a database of ACCOUNTS (1000000) accounts under load and restore it; it must serve within 60 s
	@.build/release/vestibule drill --accounts $(ACCOUNTS)

test-upgrade: ACCOUNTS ?= 100000
test-upgrade: PHONES ?= 8
test-upgrade: SECONDS ?= 5
test-upgrade: build ## Upgrade ACCOUNTS (100000) from 0.9.0, which it builds, under the load of PHONES (8), SECONDS (5) a step, and go back
	@Sources/install-dependencies.sh test
	@Tests/Upgrade/run.sh --accounts $(ACCOUNTS) --phones $(PHONES) --seconds $(SECONDS)

soak-sessions: HISTORIES ?= 100000
soak-sessions: ## Live HISTORIES (100000) of sessions out of seeds against PostgreSQL, thieves among them
	@Sources/install-dependencies.sh test
	@Sources/build.sh --build-tests
	@SESSION_HISTORIES=$(HISTORIES) swift test --skip-build --disable-xctest --filter SessionHistoryTests

soak-invites: HISTORIES ?= 10000
soak-invites: ## Live HISTORIES (10000) of numbers, groups and people out of seeds against PostgreSQL, and compare them with a model
	@Sources/install-dependencies.sh test
	@Sources/build.sh --build-tests
	@PLACE_HISTORIES=$(HISTORIES) swift test --skip-build --disable-xctest --filter PlaceHistoryTests

soak-kits: SEED ?= 1
soak-kits: ROUNDS ?= 10000
soak-kits: build ## Live ROUNDS (10000) of random histories with each client kit that is built, from the seed SEED (1) on
	@Sources/install-dependencies.sh test
	@Tests/Kits/run.sh -k test_histories --seed $(SEED) --rounds $(ROUNDS)

format: ## Format all Swift
	@git ls-files -z -- '*.swift' ':!*/Generated/*' | xargs -0 swift format --in-place

proto: ## Write the messages and stubs of every proto anew
	@proto/generate.sh

tidy: ## Check the style rules that a program can check
	@python3 -m unittest discover --quiet --start-directory Tests/Tidy
	@python3 -m unittest discover --quiet --start-directory Tests/Supply
	@python3 -m unittest discover --quiet --start-directory Tests/Runner
	@python3 -m unittest discover --quiet --start-directory Tests/Site
	@python3 -m unittest discover --quiet --start-directory Tests/Distributed
	@python3 Tests/Tidy/tidy.py

lines: ## Count lines, code, comments and tokens; AGAINST=revision compares
	@Tests/Tidy/count_lines.py $(if $(AGAINST),--against $(AGAINST))

docs: build ## Make docs a site in .build/site, with its reference, and check its links
	@docs/site/build.sh --complete

docs-serve: ## Serve that site on 127.0.0.1:8000, as it is while you write
	@docs/site/build.sh --serve

clean-data: ## Forget the data that `make run` keeps
	@if [ -x $(RELEASE_FOLDER)/vestibule ]; then exec $(RELEASE_FOLDER)/vestibule clean-data; \
	elif [ -e .vestibule ]; then echo 'clean-data: run `make build` first: only the program knows what is whose' >&2; exit 1; fi

clean: ## Remove what was built; data stays
	@rm -rf .build .build-* .venv .venv-bench .venv-compose docker/prebuilt
