// `photofinish explain`: its options. Those that it shares with `race` are read by the same rules.
import type { OriginParts } from '@photofinish/shared/web/origin';
import { EXPLAIN_OPTIONS } from './options.ts';
import { parseRaceCommand, type RaceCommand } from './race-options.ts';
import { Complaint, parseCommand } from './usage.ts';

export interface ExplainCommand
  extends Pick<
    RaceCommand,
    'caFiles' | 'pins' | 'resolver' | 'cacheFile' | 'network' | 'allowPrivate' | 'timeoutMs' | 'json'
  > {
  readonly origin: OriginParts;
  /** The most pairs of the comparison. */
  readonly pairs: number;
}

/** The command, every value checked. Throws a Complaint for the first mistake. */
export function parseExplainCommand(args: readonly string[]): ExplainCommand {
  const { positionals } = parseCommand('explain', args, EXPLAIN_OPTIONS);
  if (positionals.length !== 1)
    throw new Complaint(
      'bad-usage',
      'explain takes one origin, for example: photofinish explain example.org',
    );
  const race = parseRaceCommand(['--mode', 'compare', ...args]);
  const [origin] = race.origins;
  if (origin === undefined) throw new RangeError('a race without an origin is refused');
  const { trials: pairs, ...rest } = race;
  return { ...rest, origin, pairs };
}
