// `npm run build [-- NAME...]`: everything that is loaded or started by somebody else (addon, helper, extension, local
// origins), or what is named.
import { makeAll } from './artefacts.ts';
import { endCommandsOnSignals } from './command.ts';
import { type ArtefactName, artefactsFor, PRODUCT, readCommandLine } from './command-lines.mjs';
import { heading, say } from './display.ts';

/** Makes these, the product unless said; says what went wrong. Gives whether it went well: only
 * peers may be missing, where what they are made with is. */
export async function build(names: readonly ArtefactName[] = PRODUCT): Promise<boolean> {
  heading('Build');
  const { failed, skipped } = await makeAll(names);
  for (const { title, output } of failed) say(`\n✗ ${title}\n${output.trimEnd()}`);
  return failed.length === 0 && skipped.every(({ name }) => !PRODUCT.includes(name));
}

if (import.meta.main) {
  endCommandsOnSignals();
  const wanted = artefactsFor(readCommandLine('build', process.argv.slice(2)));
  process.exitCode = (await build(wanted)) ? 0 : 1;
}
