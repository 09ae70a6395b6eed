// Loaded by every process of unit tests that a script starts: property tests draw the same cases each time, so that what
// a change breaks is told of that change. `PHOTOFINISH_SEED` draws others.
import fc from 'fast-check';

const DEFAULT_SEED = 1;

/**
 * The seed that the variable's value asks for; null: another one for each property and run, fast-check's own choice.
 * Throws a `RangeError` for what is neither `random` nor a whole number of 32 bits with its sign, which is what
 * fast-check tells of a failure.
 */
function seedOf(value: string | undefined): number | null {
  if (value === undefined || value === '') return DEFAULT_SEED;
  if (value === 'random') return null;
  const seed = Number(value);
  if (!/^-?\d+$/.test(value) || seed !== (seed | 0))
    throw new RangeError(`PHOTOFINISH_SEED is "random" or a whole number of 32 bits, not "${value}"`);
  return seed;
}

const seed = seedOf(process.env.PHOTOFINISH_SEED);
if (seed !== null) fc.configureGlobal({ seed });
