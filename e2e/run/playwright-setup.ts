// Runs before the first spec, so that specs started by hand find everything built; under `npm test` it is built
// already.
import { makeAll } from './artefacts.ts';
import { ARTEFACTS, type ArtefactName } from './command-lines.mjs';
import { endCommandsOnSignals } from './step-command.ts';

export default async function makeWhatSpecsNeed(): Promise<void> {
  if (process.env.PHOTOFINISH_ARTEFACTS === 'made') return;
  const release = endCommandsOnSignals();
  const { failed } = await makeAll(Object.keys(ARTEFACTS) as ArtefactName[]);
  release();
  if (failed.length > 0)
    throw new Error(failed.map(({ title, output }) => `${title}:\n${output}`).join('\n'));
}
