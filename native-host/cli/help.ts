// The output of `--help`, 80 columns wide: forms and options from the table, with the explanations around them.
import { COMMANDS, type Command, TABLE } from './command-table.ts';
import type { OptionSpec, OptionTable } from './option-tables.ts';
import { wrapped } from './text.ts';

/** Column in which the help of an option starts. */
const OPTION_COLUMN = 23;
const COMMAND_COLUMN = 14;

interface Prose {
  /** What the command does. */
  readonly about: string;
  /** After the options: exit status and examples. */
  readonly after: string;
}

const PROSE: Readonly<Record<Command, Prose>> = {
  race: {
    about: `Connects to each origin over HTTP/3 and HTTP/2 and reports which was adopted. An
origin is a host with an optional port: example.org, https://example.org:8443.
Queries DNS and connects directly, bypassing any proxy.

With -, requests are read from standard input, one per line: an origin, or a
JSON object such as {"origin": "example.org", "mode": "h3"}. Each is raced as it
arrives, without waiting for earlier ones, and prints one photofinish.race/1
document on one line when it is done. A line that cannot be read is reported as
bad-line or bad-origin, and reading continues.`,
    after: `Exit status: 0 if every trial of every origin adopted a protocol, whichever;
1 if one did not, a line could not be read, or the network changed (with
memory); 2 for bad usage, with nothing raced; 130 if interrupted, after printing
what was measured.

Examples:
  photofinish race example.org
  photofinish race example.org --mode compare --trials 20
  photofinish race a.test:4433 --resolve a.test:4433:127.0.0.1 --ca ca.pem \\
    --allow-private
  photofinish race - --memory none < origins.txt > races.jsonl
  photofinish race - --shard 1/3 --resume run.json < origins.txt >> races.jsonl`,
  },
  survey: {
    about: `Races a list of origins from many vantage points. "load" puts the list, in the
format of "race -", on a NATS server with JetStream; "work" on any machine races
it and needs only an outgoing connection; "collect" archives the results; "run"
does all three on this machine with a server of its own. All workers together
keep to one budget per network, and obey opt-out and pause within seconds.

"export" converts an archive to Parquet, and "report" to an HTML page; see
docs/survey.md.`,
    after: `Exit status: 0 if done; 1 if a server, disk or race failed; 2 for bad usage or
input; 130 if interrupted, with nothing lost.

Examples:
  photofinish survey run origins.txt --out results
  photofinish survey load origins.txt --server nats://nats.example.org \\
    --canary www.example.org --contact https://example.org/survey
  photofinish survey work --vantage berlin --server nats://nats.example.org
  photofinish survey export results --out parquet`,
  },
  explain: {
    about: `Says why an origin is reached over HTTP/3 or not, what to do about it, and what
that conclusion rests on: DNS, Alt-Svc, a race, a first visit by Happy Eyeballs
v3, a race to the advertised endpoint if the others did not try it, a comparison
if both protocols work, the host cache, and how other hosts fare over HTTP/3 on
this network.

These races ignore what the host cache remembers about the origin. It is read
for the report, and the race and the comparison are recorded in it as usual.`,
    after: `Exit status: 0 if any protocol was established; 1 if none was, or the network
changed; 2 for bad usage or input; 130 if interrupted.

Examples:
  photofinish explain example.org
  photofinish explain a.test:4433 --resolve a.test:4433:127.0.0.1 --ca ca.pem \\
    --allow-private`,
  },
  cache: {
    about: `The host cache remembers which protocols each origin was reached over, on each
network. It is browsing history. "forget" deletes this machine's own records of
the origins named; "clear" deletes everything, including the names of networks.
On a terminal "clear" asks first.`,
    after: `Exit status: 0 if done; 1 if nothing is known about an ORIGIN, the file cannot
be used, or the answer was no; 2 for bad usage.`,
  },
  network: {
    about: `The helper tells networks apart by a salted digest such as net-1d44ea1a8671e8f3.
"name" gives one a name, "unname" removes it. NETWORK is such a key or a name
given before; without it, the network you are on now. Names stay on this
machine: they appear in reports only if you choose to include them when
exporting.`,
    after: `Exit status: 0 if done; 1 if there is no such network, or the cache file cannot
be used; 2 for bad usage or a name that several networks have.

Examples:
  photofinish network name Home
  photofinish network name net-1d44ea1a8671e8f3 "Hotel in Hamburg"
  photofinish race example.org --network Home`,
  },
  install: {
    about: `Lets browsers start the helper, for this user only: writes a launcher, and for
each browser a native messaging manifest that names it (on Windows also the
registry key that browsers read). Run it again to update them: an earlier
--config or --extension-id is kept until "photofinish uninstall".`,
    after: `Exit status: 0 if at least one browser can now start the helper and nothing
failed, otherwise 1; 2 for bad usage or input, with nothing written.`,
  },
  uninstall: {
    about: `Removes what "photofinish install" wrote and nothing else. The host cache stays:
its path is printed, with the command that clears it.`,
    after: '',
  },
  doctor: {
    about: `Checks each step by which a browser starts the helper: the manifest, the
extension it allows, the launcher, and a real first message. Then checks what a
race needs: settings, host cache, network and the QUIC addon.`,
    after: `Exit status: 0 if there is no problem, otherwise 1; each problem says what to
do.`,
  },
  report: {
    about: `Reads photofinish.report documents, as the extension exports them, and prints a
summary of each, or what changed from one to the other: which origins, by how
much, and why, with the verdicts of both. Conditions that make a comparison
unfair are pointed out.`,
    after: `--html, --csv, --markdown and --json take one FILE, or two with --diff. OUT may
be - for standard output. A report holds the totals of its period; to see
another period, export it again.

Examples:
  photofinish report week.json --html week.html
  photofinish report --diff before.json after.json
  photofinish report --diff before.json after.json --site example.org --markdown`,
  },
  codes: {
    about: `Says what a verdict such as h3-not-advertised or a failure such as udp-timeout
means, and what to do about it. Without a CODE, it explains all of them.`,
    after: `Exit status: 0 if done; 2 for an unknown CODE.

Example:
  photofinish codes udp-timeout`,
  },
  completion: {
    about: `Prints a script that completes commands, options and their values.

  bash   eval "$(photofinish completion bash)"             in ~/.bashrc
  zsh    eval "$(photofinish completion zsh)"              in ~/.zshrc,
         after compinit
  fish   photofinish completion fish | source              in config.fish`,
    after: '',
  },
};

const HEAD = `Usage: photofinish COMMAND [OPTIONS]

Races HTTP/3 against HTTP/2 and says which one wins, by how much, and why.`;

const TAIL = `Options:
  -h, --help           this text; after a COMMAND, that command's
  -V, --version        the version

Examples:
  photofinish explain example.org
  photofinish race example.org --mode compare

Exit status: 0 success, 1 something failed, 2 bad usage or input,
130 interrupted. Results go to standard output, errors to standard error as
"photofinish: CODE: message".`;

function optionLines(name: string, { value, help }: OptionSpec): string[] {
  const label = `  --${name}${value === undefined ? '' : ` ${value}`}`;
  const [first = '', ...more] = help.split('\n').flatMap((line) => wrapped(line, ' '.repeat(OPTION_COLUMN)));
  return label.length < OPTION_COLUMN
    ? [label.padEnd(OPTION_COLUMN) + first.trimStart(), ...more]
    : [label, first, ...more];
}

function optionsText(options: OptionTable): string {
  const lines = Object.entries(options).flatMap(([name, spec]) => optionLines(name, spec));
  return lines.length === 0 ? '' : ['Options:', ...lines].join('\n');
}

function page(command: Command): string {
  const { forms, options } = TABLE[command];
  const { about, after } = PROSE[command];
  const usage = forms.map(
    (form, index) => `${index === 0 ? 'Usage:' : '      '} photofinish ${command} ${form}`,
  );
  return [usage.join('\n'), about, optionsText(options), after].filter((part) => part !== '').join('\n\n');
}

function overview(): string {
  const commands = COMMANDS.flatMap((command) =>
    wrapped(TABLE[command].summary, `  ${command.padEnd(COMMAND_COLUMN - 2)}`, ' '.repeat(COMMAND_COLUMN)),
  );
  return [HEAD, ['Commands:', ...commands].join('\n'), TAIL].join('\n\n');
}

/** The page for a command, or the overview. */
export function helpText(command: Command | null): string {
  return command === null ? overview() : page(command);
}
