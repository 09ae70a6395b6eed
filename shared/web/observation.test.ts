import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import * as v from 'valibot';
import {
  OBSERVATION_MODES,
  type ObservationModes,
  observationModesSchema,
  unitedModes,
} from './observation.ts';

const modes: fc.Arbitrary<ObservationModes> = fc.subarray([...OBSERVATION_MODES]);

test('united modes are valid, contain both, and do not depend on the order', () => {
  fc.assert(
    fc.property(modes, modes, (a, b) => {
      const united = unitedModes(a, b);
      assert.ok(v.is(observationModesSchema, united));
      assert.deepEqual(new Set(united), new Set([...a, ...b]));
      assert.deepEqual(unitedModes(b, a), united);
    }),
  );
});

test('modes that add none leave the same list', () => {
  const both: ObservationModes = ['full', 'light'];
  assert.equal(unitedModes(both, ['light']), both);
});
