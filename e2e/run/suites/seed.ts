// Loaded by every unit test process that a script starts: property tests draw the same cases in each run, so that a
// failure is attributable to the change under test. `PHOTOFINISH_SEED` draws others.
import fc from 'fast-check';

const DEFAULT_SEED = 1;

/**
 * The seed from the variable's value; null for a new one per property and run, chosen by fast-check. Throws a
 * `RangeError` for anything but `random` or a signed 32-bit integer, which is what fast-check prints on failure.
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
