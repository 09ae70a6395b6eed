// No page of the extension parses text as HTML, or runs it: untrusted text is only ever text. The pages' policy
// (Trusted Types) rejects that in browsers; this finds it earlier.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const TOP = fileURLToPath(new URL('../../..', import.meta.url));
const SINKS =
  /\.(?:innerHTML|outerHTML|srcdoc)\b|\b(?:insertAdjacentHTML|createContextualFragment|setHTMLUnsafe|parseHTMLUnsafe|parseFromString|eval)\s*\(|document\.write|new (?:Function|Worker|DOMParser)\b|javascript:/;
/** Each goes through the one allowed function. */
const ALLOWED: Readonly<Record<string, RegExp>> = {
  'extension/pages/ui/elements.ts': /new DOMParser\(\)\.parseFromString\(trustedDrawing\(svg\)/,
  'extension/pages/report/export-file.ts': /new Worker\(trustedScript\(/,
};

test('no text is parsed as HTML or run', async () => {
  for (const folder of ['extension', 'shared'])
    for (const name of await readdir(join(TOP, folder), { recursive: true })) {
      if (!name.endsWith('.ts') || /(?:^|\/)(?:dist|node_modules|testing)\/|\.test\.ts$/.test(name)) continue;
      const file = join(folder, name);
      const lines = (await readFile(join(TOP, file), 'utf8')).split('\n');
      for (const [i, line] of lines.entries())
        assert.ok(!SINKS.test(line) || ALLOWED[file]?.test(line), `${file}:${i + 1}: ${line.trim()}`);
    }
});
