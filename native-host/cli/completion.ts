// `photofinish completion SHELL`: scripts that complete commands, options and their values, generated from the same
// table as help, so that both are always consistent.
import { COMMANDS, type Command, SHELLS, type Shell, TABLE } from './command-table.ts';
import type { Completion, OptionSpec } from './option-tables.ts';
import type { Terminal } from './terminal.ts';
import { Complaint, EXIT_OK, listed, oneOf, parseCommand } from './usage.ts';

const MAIN_WORDS = [...COMMANDS, 'help', '--help', '--version'];

/** The main part of an option's help: the text before remarks and lists. */
function gist({ help }: OptionSpec): string {
  const [summary = ''] = help.split(/\n|;| \(/);
  return summary;
}

/** POSIX single quotes; our words contain none, but a description may. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

function bashValue(values: Completion | undefined): string {
  if (values === undefined) return 'COMPREPLY=()';
  // Names may contain spaces. Version 3.2, which macOS has, knows no mapfile.
  if (values === 'file') return `local IFS=$'\\n'; COMPREPLY=($(compgen -f -- "$cur"))`;
  if (values === 'directory') return `local IFS=$'\\n'; COMPREPLY=($(compgen -d -- "$cur"))`;
  return `COMPREPLY=($(compgen -W ${quoted(values.join(' '))} -- "$cur"))`;
}

function bashCommand(command: Command): string {
  const spec = TABLE[command];
  const options = Object.entries(spec.options);
  const names = [...options.map(([name]) => `--${name}`), '--help'];
  const cases = options
    .filter(([, { type }]) => type === 'string')
    .map(([name, { complete }]) => `        --${name}) ${bashValue(complete)}; return ;;`);
  const first =
    spec.actions === undefined
      ? []
      : [`      if ((COMP_CWORD == 2)); then ${bashValue(spec.actions)}; return; fi`];
  return [
    `    ${command})`,
    ...(cases.length === 0 ? [] : ['      case $prev in', ...cases, '      esac']),
    `      if [[ $cur == -* ]]; then ${bashValue(names)}; return; fi`,
    ...first,
    `      ${bashValue(spec.argument)} ;;`,
  ].join('\n');
}

/** Works without the bash-completion package, which not every system has. */
function bash(): string {
  return `# Completion for bash. To use it now: eval "$(photofinish completion bash)"
_photofinish() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]}
  if ((COMP_CWORD == 1)); then ${bashValue(MAIN_WORDS)}; return; fi
  if [[ \${COMP_WORDS[1]} == help ]]; then ${bashValue(COMMANDS)}; return; fi
  case \${COMP_WORDS[1]} in
${COMMANDS.map(bashCommand).join('\n')}
  esac
}
complete -o bashdefault -o filenames -F _photofinish photofinish`;
}

/** A word of zsh's \`_arguments\`, in which colons and brackets are special. */
function zshText(text: string): string {
  return text.replace(/[[\]:\\]/g, '\\$&');
}

function zshValue(values: Completion | undefined): string {
  if (values === undefined) return ' ';
  if (values === 'file') return '_files';
  return values === 'directory' ? '_files -/' : `(${values.join(' ')})`;
}

function zshCommand(command: Command): string {
  const spec = TABLE[command];
  const options = Object.entries(spec.options).map(([name, spec]) => {
    const { type, multiple, value, complete } = spec;
    const repeat = multiple ? '*' : '';
    const action = type === 'boolean' ? '' : `:${value ?? 'value'}:${zshValue(complete)}`;
    return quoted(`${repeat}--${name}[${zshText(gist(spec))}]${action}`);
  });
  const first = spec.actions === undefined ? [] : [quoted(`1:action:(${spec.actions.join(' ')})`)];
  const rest = quoted(`*:argument:${zshValue(spec.argument)}`);
  const words = [...options, quoted('--help[show help]'), ...first, rest];
  return [`        ${command}) _arguments \\`, ...words.map((word) => `          ${word} \\`)]
    .join('\n')
    .replace(/ \\$/, ' ;;');
}

function zsh(): string {
  const commands = COMMANDS.map((command) => quoted(`${command}:${zshText(TABLE[command].summary)}`));
  return `#compdef photofinish
# Completion for zsh. To use it now: eval "$(photofinish completion zsh)"
_photofinish() {
  local -a commands
  local state line
  commands=(
    ${commands.join('\n    ')}
  )
  _arguments -C '(- *)--help[show help]' '(- *)'{-V,--version}'[show the version]' '1:command:->command' '*::argument:->argument'
  case $state in
    command) _describe command commands ;;
    argument)
      case $line[1] in
${COMMANDS.map(zshCommand).join('\n')}
        help) _describe command commands ;;
      esac ;;
  esac
}
if [[ $funcstack[1] == _photofinish ]]; then _photofinish "$@"; else compdef _photofinish photofinish; fi`;
}

function fishValue(values: Completion | undefined): string {
  if (values === undefined) return '-x';
  if (values === 'file') return '-r -F';
  if (values === 'directory') return "-x -a '(__fish_complete_directories)'";
  return `-x -a ${quoted(values.join(' '))}`;
}

function fishCommand(command: Command): string[] {
  const spec = TABLE[command];
  const when = `-n ${quoted(`__fish_seen_subcommand_from ${command}`)}`;
  const head = `complete -c photofinish ${when}`;
  const actions =
    spec.actions === undefined
      ? []
      : [
          `complete -c photofinish -n ${quoted(
            `__fish_seen_subcommand_from ${command}; and not __fish_seen_subcommand_from ${spec.actions.join(' ')}`,
          )} -a ${quoted(spec.actions.join(' '))}`,
        ];
  const files = spec.argument === 'file' ? [`${head} -F`] : [];
  const options = Object.entries(spec.options).map(([name, spec]) => {
    const { type, complete } = spec;
    const value = type === 'boolean' ? '' : ` ${fishValue(complete)}`;
    return `${head} -l ${name}${value} -d ${quoted(gist(spec))}`;
  });
  return [...actions, ...files, ...options, `${head} -l help -d ${quoted('show help')}`];
}

function fish(): string {
  const bare = '-n __fish_use_subcommand';
  return [
    '# Completion for fish. To use it now: photofinish completion fish | source',
    'complete -c photofinish -f',
    ...COMMANDS.map(
      (command) => `complete -c photofinish ${bare} -a ${command} -d ${quoted(TABLE[command].summary)}`,
    ),
    `complete -c photofinish ${bare} -l help -d ${quoted('show help')}`,
    `complete -c photofinish ${bare} -s V -l version -d ${quoted('show the version')}`,
    ...COMMANDS.flatMap(fishCommand),
  ].join('\n');
}

const SCRIPTS: Readonly<Record<Shell, () => string>> = { bash, zsh, fish };

/** The script for a shell. */
export function completionScript(shell: Shell): string {
  return SCRIPTS[shell]();
}

/** Runs `completion SHELL`. */
export function runCompletion(args: readonly string[], terminal: Terminal): number {
  const { positionals } = parseCommand('completion', args, TABLE.completion.options);
  const [named, ...more] = positionals;
  if (named === undefined || more.length > 0)
    throw new Complaint('bad-usage', `completion takes one shell: ${listed(SHELLS)}`);
  terminal.result(completionScript(oneOf('bad-usage', 'completion', named, SHELLS)));
  return EXIT_OK;
}
