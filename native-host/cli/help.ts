// What `--help` says, command by command. One page each, 80 columns wide; the words are the contract that users read.
import { MEMORIES, MODES } from '@photofinish/shared/outcome';
import { BROWSER_NAMES } from '../install/browser.ts';
import {
  ATTEMPT_DELAY_MS,
  DEFAULT_START_DELAY_MS,
  LEAST_ATTEMPT_DELAY_MS,
  MAX_ATTEMPT_DELAY_MS,
} from '../race/known-path.ts';
import { DEFAULT_PAIRS, DEFAULT_TIMEOUT_MS } from '../race/run.ts';
import { DEFAULT_LINES_AT_A_TIME, MAX_LINES_AT_A_TIME } from './race-options.ts';
import { listed } from './usage.ts';

export const COMMANDS = ['race', 'explain', 'cache', 'install', 'uninstall', 'doctor', 'report'] as const;
export type Command = (typeof COMMANDS)[number];

const MAIN = `Usage: photofinish COMMAND [OPTIONS]

Races HTTP/3 against HTTP/2 and says which wins, why, and by how much.

Commands:
  race ORIGIN...       race origins now
  explain ORIGIN       say why HTTP/3 is used there or not, with the evidence
  cache                look at the host cache, or clear it
  install, uninstall   make the helper known to browsers, or take that back
  doctor               check that browsers can start the helper
  report FILE...       show, convert or compare reports exported by the extension

Options:
  --help               this text; after a COMMAND, that command's own
  --version            the version

Examples:
  photofinish explain example.org
  photofinish race example.org --mode compare

Exit status: 0 all well, 1 something failed, 2 bad usage or input,
130 interrupted. Results go to standard output, errors to standard error as
"photofinish: CODE: message". README.md explains the codes of attempts and
verdicts.
`;

const SHARED_OPTIONS = `  --timeout MS         limit for one trial, 1 to 600000 (default ${DEFAULT_TIMEOUT_MS})
  --ca FILE            trust the PEM certificates in FILE too; may be repeated
  --resolve HOST:PORT:ADDRESS
                       connect to ADDRESS instead of asking DNS; may be repeated
  --resolver ADDR:PORT ask this DNS server, not the system's (default port 53)
  --cache FILE         use this host cache file`;

const RACE = `Usage: photofinish race ORIGIN... [OPTIONS]
       photofinish race - [OPTIONS]

Connects to each origin over HTTP/3 and HTTP/2 and reports what was adopted. An
origin is a host with an optional port: example.org, https://example.org:8443.
Asks DNS and connects directly, outside any proxy.

With - requests are read from standard input, one a line: an origin, or a JSON
object such as {"origin": "example.org", "mode": "h3"}. Each is raced as it
arrives, earlier ones being over or not, and prints one photofinish.race/1
document on one line as it ends. A line that cannot be read is told as bad-line
or bad-origin, and the next one is read.

Options:
  --mode MODE          ${MODES.join(', ')} (default race)
                         race     HTTP/3 first, HTTP/2 after the start delay;
                                  the first established is adopted
                         v3       Happy Eyeballs v3: one list over protocols
                                  and address families
                         alt-svc  HTTP/2 first, HTTP/3 where it is advertised
                         naive    both at once
                         compare  each alone, in turn: the only mode that
                                  measures a gain
                         h3, h2   one protocol only
  --trials N           trials per origin, pairs in mode compare, 1 to 100000
                         (default 1, in mode compare ${DEFAULT_PAIRS})
  --concurrency N      trials at a time, 1 to 256 (default 1); with -
                       lines, 1 to ${MAX_LINES_AT_A_TIME} (default ${DEFAULT_LINES_AT_A_TIME}): further ones wait,
                       which is told once as races-wait
  --memory MEMORY      ${listed(MEMORIES)}: what of the host cache is used
                         none   nothing is read or written
                         hints  round-trip times, failures and Alt-Svc are read,
                                the decision is not; no outcome is written
                         full   all is read, and the outcome written
                         (default full for one trial, none for several)
  --start-delay MS     head start of HTTP/3, 0 to 10000
                         (default ${DEFAULT_START_DELAY_MS}, more where the path is known)
  --attempt-delay MS   how long an address may stay silent before the next is
                       tried beside it, ${LEAST_ATTEMPT_DELAY_MS} to ${MAX_ATTEMPT_DELAY_MS}
                         (default ${ATTEMPT_DELAY_MS}, or by what is known of the path)
  --fresh-quic         modes race and h3: the one more QUIC attempt that they
                       add to a first one whose handshake is overdue also to
                       an unknown host that stays silent
  --no-fresh-quic      no such attempt at all
  --initial-rtt MS     QUIC's estimate of the round-trip time before it has one,
                       1 to 10000: its first retransmission comes after three
                       times that (default 67, or by what is known of the path;
                       333 is RFC 9002's)
  --no-post-quantum    offer key shares of elliptic curves alone, over TCP and
                       QUIC, none with ML-KEM
${SHARED_OPTIONS}
  --network NAME       file the outcomes under this network instead of
                       recognising it
  --allow-private      allow loopback, private and link-local addresses
  --json               print one photofinish.race/1 document

Exit status: 0 if every trial of every origin adopted a protocol, whichever;
1 if one did not, or the network changed; 2 for bad usage or input, then nothing
was raced; 130 if interrupted, with what was measured.

Examples:
  photofinish race example.org
  photofinish race example.org --mode compare --trials 20
  photofinish race a.test:4433 --resolve a.test:4433:127.0.0.1 --ca ca.pem \\
    --allow-private
  photofinish race - --memory none < origins.txt > races.jsonl
`;

const EXPLAIN = `Usage: photofinish explain ORIGIN [OPTIONS]

Says in words why an origin is reached over HTTP/3 or not, what to do, and what
that rests on: what DNS and Alt-Svc say, a race, a first visit by Happy Eyeballs
v3, a race that goes by Alt-Svc where a place is advertised that the others did
not try, a comparison where both protocols work, what the host cache remembers,
and how other hosts fare over HTTP/3 on this network.

Nothing remembered decides these races. The host cache is read, and the race and
the comparison are filed there as any outcome is.

Options:
  --trials N           pairs of the comparison, 1 to 100000 (default ${DEFAULT_PAIRS})
${SHARED_OPTIONS}
  --network NAME       read and file under this network instead of recognising
                       it
  --allow-private      allow loopback, private and link-local addresses
  --json               print one photofinish.explain/1 document

Exit status: 0 if a protocol was established, whichever; 1 if none was; 2 for
bad usage or input; 130 if interrupted.

Examples:
  photofinish explain example.org
  photofinish explain a.test:4433 --resolve a.test:4433:127.0.0.1 --ca ca.pem \\
    --allow-private
`;

const CACHE = `Usage: photofinish cache list [OPTIONS]
       photofinish cache show ORIGIN [OPTIONS]
       photofinish cache clear [OPTIONS]

The host cache holds what each origin was found to speak on each network. It is
browsing history: "clear" removes all of it.

Options:
  --cache FILE         use this host cache file
  --json               print one photofinish.cache/1 document

Exit status: 0 if it was done; 1 if nothing is known of ORIGIN, or the file
cannot be used; 2 for bad usage.
`;

const BROWSER_OPTIONS = `  --browser NAME       ${BROWSER_NAMES.join(', ')}; may be repeated
                         (default every one found for this user)
  --user-data-dir DIR  a Chromium profile elsewhere; nothing outside DIR is
                       written (not on Windows)`;

const INSTALL = `Usage: photofinish install [OPTIONS]

Makes the helper known to browsers, for this user only: a native messaging
manifest for each browser, on Windows with a registry key that names it, and a
launcher that they start. Running it again replaces them.

Options:
${BROWSER_OPTIONS}
  --config FILE        a settings file for the helper to use
  --extension-id ID    allow this Chromium extension, too, as a store names its
                       edition; may be repeated
  --json               print one photofinish.install/1 document

Exit status: 0 if the helper is now known to a browser and nothing failed, 1
otherwise.
`;

const UNINSTALL = `Usage: photofinish uninstall [OPTIONS]

Removes what "photofinish install" wrote and nothing else. The host cache stays;
clear it with "photofinish cache clear".

Options:
${BROWSER_OPTIONS}
  --json               print one photofinish.install/1 document
`;

const DOCTOR = `Usage: photofinish doctor [OPTIONS]

Walks the way a browser takes to the helper, for each browser: the manifest, the
extension it allows, the launcher, and a real first message. Then looks at
settings, host cache, network and addon.

Options:
  --user-data-dir DIR  look at the Chromium profile in DIR instead
  --extension-id ID    expect this Chromium extension to be allowed, too; may be
                       repeated
  --json               print one photofinish.doctor/1 document

Exit status: 0 if all is well, 1 otherwise; each problem says what to do.
`;

const REPORT = `Usage: photofinish report FILE... [OPTIONS]
       photofinish report --diff BEFORE AFTER [OPTIONS]

Reads photofinish.report/1 documents, as the extension exports them, and prints
a summary of each, or what changed from one to another: which origins, from what
counts, and why by the verdicts of both sides. Conditions that make a comparison
unfair are named.

Options:
  --diff               compare two FILEs
  --site SITE          only this site; may be repeated
  --html OUT           write one self-contained page to OUT
  --csv OUT            write a table to OUT
  --markdown           print a summary of at most 40 lines for a ticket
  --json               print the checked document itself, with --diff one
                       photofinish.report-diff/1 document

--html, --csv, --markdown and --json take one FILE, or two with --diff. OUT may
be - for standard output. A report holds the sums of its period: choose another
period where it is exported.

Examples:
  photofinish report week.json --html week.html
  photofinish report --diff before.json after.json
  photofinish report --diff before.json after.json --site example.org --markdown
`;

const PAGES: Record<Command, string> = {
  race: RACE,
  explain: EXPLAIN,
  cache: CACHE,
  install: INSTALL,
  uninstall: UNINSTALL,
  doctor: DOCTOR,
  report: REPORT,
};

/** The page for a command, or the overview; ends with a line break. */
export function helpText(command: Command | null): string {
  return command === null ? MAIN : PAGES[command];
}
