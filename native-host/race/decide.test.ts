// The scenes of the decision benchmark still end as races do: nothing else runs them between two measurements.
import '@photofinish/shared/language/english';
import { test } from 'node:test';
import { SCENES, sceneOf } from './decide.bench.ts';

for (const scene of SCENES)
  for (const count of [16, 128])
    test(`${scene} with ${count} endpoints`, () => {
      sceneOf(scene, count)();
    });
