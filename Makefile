# `make demo` and `make test` are the first two commands for a newcomer; docs/commands.md has the rest.

PREFIX ?= /usr/local
CARGO ?= cargo
TARGET := $(or $(CARGO_TARGET_DIR),target)
# Of this checkout, so two users of a machine do not write one file.
TRACE := $(TARGET)/demo.pmt

.PHONY: demo test test-engine test-arm64 test-cluster test-deb install pack deb bench-attach bench-record bench-real bench-truth bench-depths bench-recorder bench-replay bench-models bench-screens bench-prolog endurance endurance-kill endurance-compare pictures samples engine test-packages check test-memory fuzz

demo: engine
	$(CARGO) build --quiet --package portmortem --package portmortem-swi
	$(TARGET)/debug/portmortem record --force --output $(TRACE) traces/queens.pl
	$(TARGET)/debug/portmortem report $(TRACE)

test: engine test-packages check
	$(CARGO) build --quiet --workspace
	tests/run

check:
	tools/check-structure
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --quiet -- --deny warnings
	RUSTDOCFLAGS=--deny=warnings $(CARGO) doc --workspace --no-deps --document-private-items --quiet
	CARGO=$(CARGO) tools/cargo-deny $(abspath $(TARGET))/cargo-deny

# The engine's own tests, unrecorded and recorded in every mode; tests/engine/run --help has more.
# For example: make test-engine MODE=byrd SWIPL="$$(tools/engine trixie)"
test-engine: engine
	$(if $(SWIPL),,@tools/install-packages swi-prolog-test)
	$(CARGO) build --quiet --package portmortem --package portmortem-swi
	tests/engine/run --mode $(or $(MODE),all) --swipl $(or $(SWIPL),swipl)

# The recorder for 64-bit ARM, on the engine of Debian's packages for ARM, which qemu runs: the same events as here.
# The toolchain needs its libraries: rustup target add aarch64-unknown-linux-gnu
ARM := aarch64-unknown-linux-gnu
test-arm64: engine
	@tools/install-packages gcc-aarch64-linux-gnu libc6-dev-arm64-cross
	$(CARGO) build --quiet --package portmortem --package portmortem-swi
	CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc $(CARGO) build --quiet --target $(ARM) --package portmortem-swi
	tests/arm64/run --swipl "$$(tools/engine bookworm)" --emulated "$$(tools/engine bookworm arm64)"

# The recorder under AddressSanitizer.
test-memory:
	@tools/install-packages gcc libc6-dev
	tools/test-memory

# tools/spark on a Spark cluster of its own: a worker is killed, traces are damaged, every sum is compared.
test-cluster:
	@command -v java >/dev/null || tools/install-packages openjdk-17-jre-headless
	$(CARGO) build --quiet --package portmortem
	tests/cluster/run

# Every fuzz target for FUZZ_SECONDS, on one core; see fuzz/README.md. Stops at the first finding.
FUZZ_SECONDS ?= 1200
FUZZ_TARGETS ?= trace scope index records condition
fuzz:
	$(CARGO) run --quiet --package portmortem-fuzzing -- fuzz/corpus
	cd fuzz && for target in $(FUZZ_TARGETS); do \
		RUSTC_BOOTSTRAP=1 $(CARGO) fuzz run $$target corpus/$$target $$(ls -d regressions/$$target 2>/dev/null) -- -max_total_time=$(FUZZ_SECONDS) \
			-max_len=8192 -timeout=30 -malloc_limit_mb=512 || exit 1; \
	done

install: engine
	$(CARGO) build --release --package portmortem --package portmortem-swi --package portmortem-prolog
	tools/install-programs $(TARGET)/release $(DESTDIR)$(PREFIX)

# A package of Debian: sudo apt install ./target/portmortem_0.1.0_amd64.deb
deb: engine
	$(CARGO) build --release --package portmortem --package portmortem-swi --package portmortem-prolog
	tools/make-deb $(TARGET)/release $(TARGET)

# The package in a Debian that has nothing else. As root.
test-deb: deb
	@tools/install-packages debootstrap
	tests/debian/run $(TARGET)/portmortem_*.deb $(SUITE)

# library(portmortem) and library(portmortem/trace) with the programs, for SWI-Prolog elsewhere:
# ?- pack_install('target/portmortem-0.1.0.tgz').
PACK := $(TARGET)/pack/portmortem
pack: engine
	$(CARGO) build --release --package portmortem --package portmortem-swi --package portmortem-prolog
	tools/install-pack $(TARGET)/release/libportmortem_swi.so $(PACK)
	tools/archive-pack $(TARGET)/release $(PACK) $(TARGET)

# Traced over untraced time on every corpus program, side by side in one run.
bench-record: engine test-packages
	$(CARGO) build --release --package portmortem --package portmortem-swi --package portmortem-tests
	$(TARGET)/release/bench-record

# Whole real programs, recorded and unrecorded. DIR is a folder of checkouts, each named as its repository; what is not there is left out.
# For example: make bench-real DIR=$HOME/checkouts
bench-real: engine
	$(CARGO) build --release --package portmortem --package portmortem-swi
	$(CARGO) build --release --package portmortem-tests --bin bench-real
	$(TARGET)/release/bench-real $(DIR)

# A server of HTTP before, while and after it is recorded; then 1,000 recordings of it, or BENCH.
bench-attach: engine
	@tools/install-packages swi-prolog-core-packages
	$(CARGO) build --release --package portmortem --package portmortem-swi
	$(CARGO) build --release --package portmortem-tests --bin bench-attach
	PORTMORTEM_TEST_PROGRAM=$(TARGET)/release/portmortem $(TARGET)/release/bench-attach $(BENCH)

# Compensated times against those of the same programs unrecorded, side by side in one run.
# For example: make bench-truth BENCH='nrev30 queens8'
bench-truth: engine test-packages
	$(CARGO) build --release --package portmortem-swi
	$(CARGO) build --release --package portmortem-tests --bin bench-truth
	$(TARGET)/release/bench-truth $(BENCH)

# Exceptions through many levels of catch/3, findall/3 and others: recorded over unrecorded.
bench-depths: engine
	$(CARGO) build --release --package portmortem --package portmortem-swi
	$(CARGO) build --release --package portmortem-tests --bin bench-depths
	$(TARGET)/release/bench-depths

# The recorder alone, called in a loop from C.
bench-recorder:
	@tools/install-packages gcc libc6-dev
	$(CARGO) build --release --package portmortem-tracer
	cc -std=c11 -D_GNU_SOURCE -O2 -pthread -I tracer/include tests/bench/recorder.c -o $(TARGET)/release/bench-recorder \
		-L $(TARGET)/release -lportmortem_tracer -Wl,-rpath,$(abspath $(TARGET))/release
	$(TARGET)/release/bench-recorder $(or $(TMPDIR),/tmp)/portmortem-bench.pmt

# The analysis of a large trace: side by side with reading its bytes, and with uftrace on a recording of its own.
# For example: make bench-replay BENCH='--events 1000000000 --workload backtrack'
bench-replay:
	@tools/install-packages gcc libc6-dev uftrace
	$(CARGO) build --release --package portmortem-tests --bin bench-replay
	$(TARGET)/release/bench-replay $(BENCH)

# How well cost models predict: tables 2 to 4 of Mera et al. 2006 on this machine, and sizes that were never run.
bench-models: engine
	$(CARGO) build --release --package portmortem --package portmortem-swi
	$(CARGO) build --release --package portmortem-tests --bin bench-models
	$(TARGET)/release/bench-models $(BENCH)

# library(portmortem/trace): opening an indexed trace of 1 M events, and a fold over all of them.
bench-prolog: pack
	$(CARGO) build --release --package portmortem-tests --bin generate-trace
	$(CARGO) build --release --package portmortem
	tests/bench/prolog $(TARGET)/release $(PACK)

# The screens: how long keys take on traces; the program that makes large ones is target/release/generate-trace.
bench-screens:
	$(CARGO) build --release --package portmortem-tests --bin bench-screens
	$(TARGET)/release/bench-screens $(or $(TRACES),traces/queens.pmt)

# A program that runs for an hour at full speed, in 500 MB: exact counts, bounded room, flat memory.
# For example: make endurance ENDURANCE='--minutes 5 --size 100M'
endurance: engine
	$(CARGO) build --release --package portmortem --package portmortem-swi
	tests/endurance/run $(ENDURANCE)

# The same program killed, or the process that folds, or both, 100 times: what is left can be read.
endurance-kill: engine
	$(CARGO) build --release --package portmortem --package portmortem-swi
	tests/endurance/kill $(ENDURANCE)

# Programs of the corpus, threads and engines, folded and whole: the same counts in all tables.
endurance-compare: engine
	$(CARGO) build --release --package portmortem --package portmortem-swi
	tests/endurance/compare $(ENDURANCE)

# Draw the pictures of the screens again, which README.md and docs/commands.md show.
pictures:
	$(CARGO) run --quiet --package portmortem-screens --example pictures -- docs/questions/shop.pmt \
		docs/questions/shop_fixed.pmt tui/screens/pictures

# Record the traces in traces/ again. The recorder is optimised, for the times; the program that starts it need not be.
samples: engine
	$(CARGO) build --package portmortem
	$(CARGO) build --release --package portmortem-swi
	PORTMORTEM=$(abspath $(TARGET))/debug/portmortem \
	    PORTMORTEM_ENGINE_LIBRARY=$(abspath $(TARGET))/release/libportmortem_swi.so traces/record

engine:
	@command -v swipl >/dev/null || tools/install-packages swi-prolog-nox

test-packages:
	@tools/install-packages chromium-headless-shell gcc gprolog-doc graphviz python3-venv swi-prolog-test tmux valgrind
	@tools/python-environment $(TARGET)/python tests/requirements.txt
