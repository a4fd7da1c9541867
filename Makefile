# brontosig. `make help` lists the targets.

SHELL := /bin/bash -o pipefail
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory

GO ?= go
GOROOT := $(shell $(GO) env GOROOT)
WASM := GOOS=js GOARCH=wasm
# Runs the test binaries of the wasm port under Node. The Go runtime accepts
# only 8 KiB of environment, so a long one stays outside.
WASM_EXEC := env -i HOME=$(HOME) PATH=$(PATH) $(GOROOT)/lib/wasm/go_js_wasm_exec
# The module must be the same wherever it is built.
BUILD_FLAGS := -trimpath -buildvcs=false -ldflags="-s -w -buildid="

STATICCHECK_VERSION := v0.8.2
STATICCHECK := build/tools/$(STATICCHECK_VERSION)/staticcheck

ACTIONLINT_VERSION := v1.7.12
ACTIONLINT := build/tools/$(ACTIONLINT_VERSION)/actionlint

BENCHSTAT_VERSION := v0.0.0-20260908200009-22c9c6c9d4da
BENCHSTAT := build/tools/$(BENCHSTAT_VERSION)/benchstat

# The race detector needs cgo, and that a C compiler.
RACE := $(shell [ "$$($(GO) env CGO_ENABLED)" = 1 ] && command -v $$($(GO) env CC) >/dev/null && echo -race)
# The packages that use goroutines.
CONCURRENT := /(bridge|brontide|cmd|demopeer)(/|$$)

GO_SOURCES := $(shell find brontide internal lnpeer musig2 wasm -name '*.go' ! -name '*_test.go') go.mod go.sum
TS_SOURCES := $(shell find js/src -name '*.ts') tsconfig.json
TEST_SOURCES := $(shell find js/test -name '*.ts' -o -name tsconfig.json)

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z/-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z/-]+):.*## (.*)/\1\t\2/' | expand -t 24

.PHONY: build
build: dist/brontosig.wasm dist/index.js ## Build the wasm module and the npm package into dist/

# npm writes this file when it has installed what the lock file says.
node_modules/.package-lock.json: package-lock.json package.json
	@echo "==> installing the npm packages"
	npm ci --loglevel=error
	@touch $@

# The module is built against copies of two dependencies, made here from the
# module cache, without what the module never uses:
#   compressedbytepoints.go, loadprecomputed.go, curve_precompute.go
#       the table of the base point, which does not compress (0.53 MB brotli),
#       and its zlib loader; internal/curve has its own multiplication
#   curve_embedded.go
#       the choice not to use the table, behind a build tag of another compiler
#   ellipticadaptor.go, and btcec.go, which gives it a second name
#       the adaptor to crypto/ecdsa and crypto/elliptic (0.2 MB brotli)
# wasm/slim/secp256k1.go.txt holds what the files that stay still name.
SLIM := build/slim
SECP256K1 := github.com/decred/dcrd/dcrec/secp256k1/v4
BTCEC := github.com/btcsuite/btcd/btcec/v2
LEFT_OUT := secp256k1/compressedbytepoints.go secp256k1/loadprecomputed.go secp256k1/curve_precompute.go \
	secp256k1/curve_embedded.go secp256k1/ellipticadaptor.go btcec/btcec.go

$(SLIM)/go.mod: go.mod go.sum Makefile wasm/slim/secp256k1.go.txt
	@rm -rf $(SLIM) && mkdir -p $(SLIM)/secp256k1 $(SLIM)/btcec
	$(GO) mod download $(SECP256K1) $(BTCEC)
	@cp "$$($(GO) list -m -f '{{.Dir}}' $(SECP256K1))"/{*.go,go.mod} $(SLIM)/secp256k1
	@cp "$$($(GO) list -m -f '{{.Dir}}' $(BTCEC))"/{*.go,go.mod} $(SLIM)/btcec
	@chmod -R u+w $(SLIM) && rm $(SLIM)/*/*_test.go $(addprefix $(SLIM)/,$(LEFT_OUT))
	@cp wasm/slim/secp256k1.go.txt $(SLIM)/secp256k1/slim.go
	@cp go.sum $(SLIM)/go.sum
	@{ cat go.mod; echo "replace $(SECP256K1) => ./$(SLIM)/secp256k1"; echo "replace $(BTCEC) => ./$(SLIM)/btcec"; } >$@

dist/brontosig.wasm: $(GO_SOURCES) $(SLIM)/go.mod
	@echo "==> compiling the wasm module (about a minute the first time)"
	@mkdir -p dist
	$(WASM) $(GO) build -modfile=$(SLIM)/go.mod $(BUILD_FLAGS) -o $@ ./wasm
	@chmod 644 $@

# The same with the names of its functions, to tell what the bytes are.
build/named.wasm: dist/brontosig.wasm
	$(WASM) $(GO) build -modfile=$(SLIM)/go.mod -trimpath -buildvcs=false -ldflags=-buildid= -o $@ ./wasm

# One rule makes all of dist but the module. What it has not written has lost
# its source and goes.
dist/index.js: $(TS_SOURCES) js/scripts/go-runtime.mjs $(GOROOT)/lib/wasm/wasm_exec.js node_modules/.package-lock.json
	@echo "==> compiling the TypeScript wrapper"
	@mkdir -p dist build && touch build/started
	npx tsc -p .
	node js/scripts/go-runtime.mjs $(GOROOT) dist/go-runtime.js
	@find dist -type f ! -name '*.wasm' ! -newer build/started -delete
	@touch $@

# What goes to npm, packed once for all that looks at it.
build/brontosig.tgz: dist/brontosig.wasm dist/index.js package.json README.md LICENSE
	@echo "==> packing the npm package"
	@mkdir -p build
	npm pack --ignore-scripts --loglevel=error --pack-destination build >/dev/null
	@mv build/brontosig-[0-9]*.tgz $@

build/js-test/.done: $(TEST_SOURCES) dist/index.js
	@echo "==> compiling the TypeScript tests"
	@rm -rf build/js-test
	npx tsc -p js/test
	@touch $@

.PHONY: generate
generate: ## Write the generated files again
	$(GO) generate ./internal/abi ./internal/curve ./lnpeer

.PHONY: test
test: lint ## Set up, build, and run every check and test
test: test-go
test: interop-brontide
test: fuzz
test: test-wasm
test: test-js
test: test-browser
test: test-package
test: check-reproducible
test: check-size
test: docs

# What needs a second or two each.
QUICK := check documents examples exports handle musig2* timing

.PHONY: check
check: lint docs build/brontosig-bridge build/js-test/.done ## Run what is quick, before a commit: lint and the tests of units
	@echo "==> running the quick tests"
	$(GO) test -short . ./brontide ./internal/abi/... ./lnpeer ./musig2
	node --expose-gc --test $(patsubst %,build/js-test/%.test.js,$(QUICK))

.PHONY: lint
lint: $(STATICCHECK) $(ACTIONLINT) build ## Check the form of all sources
	@echo "==> checking the Go sources, natively and for js/wasm"
	@unformatted=$$(gofmt -l $$(find . -name '*.go' -not -path './node_modules/*' -not -path './build/*')); \
	if [ -n "$$unformatted" ]; then echo "not formatted with gofmt:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(STATICCHECK) ./...
	$(WASM) $(GO) vet ./...
	$(WASM) $(STATICCHECK) $$($(WASM) $(GO) list ./... | grep -v '/wasm$$')
	@# Staticcheck takes what only go:wasmexport names for unused (U1000).
	$(WASM) $(STATICCHECK) -checks inherit,-U1000 ./wasm
	@echo "==> checking the TypeScript sources"
	npx eslint .
	@echo "==> checking the workflows"
	$(ACTIONLINT) -shellcheck= -pyflakes=

$(ACTIONLINT):
	@echo "==> building actionlint"
	GOBIN=$(CURDIR)/$(@D) $(GO) install github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT_VERSION)

$(STATICCHECK):
	@echo "==> building staticcheck"
	GOBIN=$(CURDIR)/$(@D) $(GO) install honnef.co/go/tools/cmd/staticcheck@$(STATICCHECK_VERSION)

.PHONY: test-go
test-go: ## Run the Go tests natively
	@echo "==> running the Go tests$(if $(RACE),, (without the race detector: there is no C compiler))"
	$(GO) test $(RACE) $$($(GO) list ./... | grep -E '$(CONCURRENT)')
	$(GO) test $$($(GO) list ./... | grep -vE '$(CONCURRENT)')
	@# Under the race detector pools of buffers drop what they are given.
	$(GO) test -run Allocations ./brontide

.PHONY: interop
interop: build build/brontosig-bridge build/js-test/.done $(STATICCHECK) ## Build lnd and btcd, and test against them
	@echo "==> building lnd and btcd (the first time ten minutes to half an hour)"
	cd interop && $(GO) vet ./buildnodes && $(CURDIR)/$(STATICCHECK) ./buildnodes
	cd interop && $(GO) test ./buildnodes && $(GO) build -o ../build/buildnodes ./buildnodes
	build/buildnodes build/nodes
	@echo "==> testing against them (about four minutes)"
	node --test --test-concurrency=3 build/js-test/interop/*.test.js

.PHONY: interop-brontide
interop-brontide: ## Have brontide and the brontide of lnd talk to each other
	@echo "==> testing brontide against lnd's (compiling that takes some minutes the first time)"
	cd interop && $(GO) vet . ./brontide && $(GO) test . ./brontide

# Counted, not timed: a time that runs out while a worker is busy can fail a
# target with "context deadline exceeded".
FUZZ_RUNS := 8000x

.PHONY: fuzz
fuzz: ## Run every fuzz target, FUZZ_RUNS runs each
	@echo "==> fuzzing, $(FUZZ_RUNS) runs of each target"
	@for package in $$($(GO) list ./...); do \
		for target in $$($(GO) test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			echo "$$package $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZ_RUNS) $$package >build/fuzz.log 2>&1 || { cat build/fuzz.log; exit 1; }; \
		done; \
	done

.PHONY: test-wasm
test-wasm: ## Run the Go tests compiled to js/wasm, under Node
	@echo "==> running the Go tests in js/wasm"
	$(WASM) $(GO) test -exec '$(WASM_EXEC)' ./brontide ./internal/... ./lnpeer ./musig2 ./wasm

.PHONY: test-js
test-js: build build/brontosig-bridge build/cosigner build/goclient build/js-test/.done ## Run the TypeScript tests in Node
	@echo "==> running the TypeScript tests"
	node --expose-gc --test build/js-test/*.test.js

.PHONY: test-browser
test-browser: build build/brontosig-bridge build/js-test/.done build/web/index.html ## Run the tests in Chromium
	@echo "==> running the browser tests"
	node --test build/js-test/browser/*.test.js

.PHONY: test-package
test-package: build/brontosig.tgz build/js-test/.done ## Install the packed npm package wherever it may be used, and sign there
	@echo "==> testing the packed npm package"
	node --test build/js-test/package/*.test.js

.PHONY: pictures
pictures: build build/brontosig-bridge build/js-test/.done build/web/index.html ## Make the pictures of the wallet page in docs/ again
	@echo "==> taking pictures of the wallet page (about a minute)"
	PICTURES=1 node --test --test-name-pattern=axe build/js-test/browser/{console,room}.test.js
	cp build/screenshots/{wallet-light,console-dark}.png docs/

.PHONY: check-reproducible
check-reproducible: build/brontosig.tgz ## Compare the module and the npm package with those built elsewhere from nothing
	@echo "==> building module and package again in another folder, without a cache (about a minute)"
	@rm -rf build/again && mkdir -p build/again/source/{js/test,bridge,cmd}
	@tar -c $(GO_SOURCES) $(TS_SOURCES) Makefile wasm/slim js/scripts package.json package-lock.json .npmrc README.md LICENSE | \
		tar -x -C build/again/source
	umask 002 && GOCACHE=$(CURDIR)/build/again/cache $(MAKE) -C build/again/source build/brontosig.tgz
	cmp dist/brontosig.wasm build/again/source/dist/brontosig.wasm
	cmp build/brontosig.tgz build/again/source/build/brontosig.tgz
	@rm -rf build/again

.PHONY: check-size
check-size: dist/brontosig.wasm ## Compare the size of the module with its budget
	@node js/scripts/check-size.mjs

BRIDGE_SOURCES := $(GO_SOURCES) $(shell find bridge cmd -name '*.go' ! -name '*_test.go')

build/brontosig-bridge: $(BRIDGE_SOURCES) ## Build the bridge, one static file
	@echo "==> compiling the bridge"
	@mkdir -p build
	CGO_ENABLED=0 $(GO) build $(BUILD_FLAGS) -o $@ ./cmd/brontosig-bridge

# The other side of the tests that sign together with Go code.
build/cosigner: $(GO_SOURCES)
	@echo "==> compiling the co-signer of the tests"
	@mkdir -p build
	$(GO) build -o $@ ./internal/cosigner

# A Lightning client for the tests of the bridge.
build/goclient: $(GO_SOURCES)
	@mkdir -p build
	$(GO) build -o $@ ./internal/goclient

build/fire: $(shell find internal/fire -name '*.go')
	@mkdir -p build
	$(GO) build -o $@ ./internal/fire/run

.PHONY: fire
fire: build/brontosig-bridge build/fire ## Attack the bridge with as many connections as this machine allows (five minutes)
	@build/fire fire build/brontosig-bridge

.PHONY: bench-bridge
bench-bridge: build/brontosig-bridge build/fire ## Compare the bridge's speed with websockify's and with bare TCP
	@build/fire bench build/brontosig-bridge

.PHONY: demo
demo: build build/brontosig-bridge ## Co-sign with three signers and reach a Lightning peer through a bridge
	@echo "==> running examples/node/demo.mjs beside a bridge with an embedded peer"
	@node examples/run-with-bridge.mjs node examples/node/demo.mjs

WEB_SOURCES := $(shell find examples -type f) lnpeer/features.txt

build/web/index.html: $(WEB_SOURCES) dist/brontosig.wasm dist/index.js
	@echo "==> building the wallet page"
	npx tsc -p examples/web
	npx vite build --logLevel warn examples/web
	@touch $@

.PHONY: web
web: build/web/index.html build/brontosig-bridge ## Serve the wallet page beside a bridge with a peer, until interrupted
	@echo "==> serving the page at the address below, until interrupted (Ctrl-C)"
	@node examples/web/serve.mjs

build/inside.wasm: $(GO_SOURCES) $(wildcard js/bench/inside/*.go)
	@echo "==> compiling what the benchmarks do inside Go wasm"
	@mkdir -p build
	$(WASM) $(GO) build $(BUILD_FLAGS) -o $@ ./js/bench/inside

.PHONY: bench
bench: build build/inside.wasm build/named.wasm ## Compare the speed with others from JavaScript
	@node js/bench/bench.mjs

# Every benchmark this often, so that benchstat can tell how much they vary.
BENCH_COUNT := 6

.PHONY: bench-go
bench-go: $(BENCHSTAT) ## Compare the speed with others in Go, and write build/bench-go.txt for benchstat
	@mkdir -p build
	$(GO) test -run '^$$' -bench . -benchtime 100ms -count $(BENCH_COUNT) -skip Timing ./musig2 ./brontide ./internal/curve | tee build/bench-go.txt
	cd interop && $(GO) test -run '^$$' -bench . -benchtime 100ms -count $(BENCH_COUNT) ./brontide | tee -a ../build/bench-go.txt
	@$(BENCHSTAT) build/bench-go.txt

$(BENCHSTAT):
	@echo "==> building benchstat"
	GOBIN=$(CURDIR)/$(@D) $(GO) install golang.org/x/perf/cmd/benchstat@$(BENCHSTAT_VERSION)

.PHONY: bench-memory
bench-memory: build ## Measure the memory of many sessions, messages and connections
	@node --expose-gc js/bench/memory.mjs
	@node --expose-gc js/bench/memory-connections.mjs

.PHONY: docs
docs: build ## Write the reference of the npm package, with the guides, to build/docs
	@echo "==> writing the reference; whatever has no comment and every broken link is an error"
	npx typedoc

.PHONY: clean
clean: ## Remove everything that was built
	rm -rf build dist
