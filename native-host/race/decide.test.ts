// The scenarios of the decision benchmark still end as races do: nothing else runs them between two measurements.
import '@photofinish/shared/language/english';
import { test } from 'node:test';
import { SCENARIOS, scenarioOf } from './decide.bench.ts';

for (const scenario of SCENARIOS)
  for (const count of [16, 128])
    test(`${scenario} with ${count} endpoints`, () => {
      scenarioOf(scenario, count)();
    });
