# Every target that builds installs what is missing first, so that each of these is one command on a fresh machine.

PREFIX ?= /usr/local
DESTDIR ?=
SWIFT ?= swift

bindir = $(DESTDIR)$(PREFIX)/bin
libexecdir = $(DESTDIR)$(PREFIX)/libexec/recorder
mandir = $(DESTDIR)$(PREFIX)/share/man
sharedir = $(DESTDIR)$(PREFIX)/share
docdir = $(sharedir)/doc/recorder
unitdir = $(DESTDIR)$(PREFIX)/lib/systemd/user

# The Swift runtime is linked in, so that an installed program needs no toolchain and starts sooner.
release_flags = -c release --static-swift-stdlib

.PHONY: build deps release test torture lint demo bench bench-quick man install uninstall

build: deps
	$(SWIFT) build

deps:
	@scripts/install-dependencies

release: deps
	$(SWIFT) build $(release_flags) --product recorder
	$(SWIFT) build $(release_flags) --product recorder-media
	$(SWIFT) build $(release_flags) --product recorder-desktop

# One test after the other: many record in real time, and would otherwise measure each other. What is installed is
# compiled too: the optimiser has refused what a debug build took.
test: release
	$(SWIFT) build --build-tests
	scripts/lint
	$(SWIFT) test --skip-build --no-parallel

# What "make test" does to sessions in a bounded form, in full; takes hours.
torture: deps
	scripts/torture

lint: deps
	scripts/lint

demo: release
	scripts/demo

bench: release
	scripts/install-dependencies bench
	scripts/bench

bench-quick: release
	scripts/install-dependencies bench
	scripts/bench --quick

man: deps
	scripts/regenerate

# What "make release" built is installed as it is: under sudo there is often no toolchain on the PATH.
install: $(if $(wildcard .build/release/recorder-media),,release)
	install -d $(bindir) $(libexecdir) $(mandir)/man1 $(mandir)/man5 $(mandir)/man7 $(sharedir)/recorder/schemas \
	  $(docdir) $(unitdir)
	install -d $(sharedir)/bash-completion/completions $(sharedir)/zsh/site-functions \
	  $(sharedir)/fish/vendor_completions.d
	install -m 755 .build/release/recorder $(bindir)/recorder
	install -m 755 .build/release/recorder-media $(libexecdir)/recorder-media
	install -m 755 .build/release/recorder-desktop $(libexecdir)/recorder-desktop
	install -m 644 man/*.1 $(mandir)/man1
	install -m 644 man/*.5 $(mandir)/man5
	install -m 644 man/*.7 $(mandir)/man7
	install -m 644 systemd/*.service $(unitdir)
	sed -i 's|/usr/local/bin/|$(PREFIX)/bin/|' $(addprefix $(unitdir)/,$(notdir $(wildcard systemd/*)))
	install -m 644 schemas/*.json $(sharedir)/recorder/schemas
	install -m 644 LICENSE README.md $(docdir)
	install -m 644 completions/recorder.bash $(sharedir)/bash-completion/completions/recorder
	install -m 644 completions/_recorder $(sharedir)/zsh/site-functions/_recorder
	install -m 644 completions/recorder.fish $(sharedir)/fish/vendor_completions.d/recorder.fish

uninstall:
	rm -f $(bindir)/recorder $(addprefix $(mandir)/man1/,$(notdir $(wildcard man/*.1)))
	rm -f $(addprefix $(mandir)/man5/,$(notdir $(wildcard man/*.5)))
	rm -f $(addprefix $(mandir)/man7/,$(notdir $(wildcard man/*.7)))
	rm -f $(addprefix $(unitdir)/,$(notdir $(wildcard systemd/*)))
	rm -f $(sharedir)/bash-completion/completions/recorder $(sharedir)/zsh/site-functions/_recorder
	rm -f $(sharedir)/fish/vendor_completions.d/recorder.fish
	rm -rf $(libexecdir) $(sharedir)/recorder $(docdir)
