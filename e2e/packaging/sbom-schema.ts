// CycloneDX's own schema, for tests of the packages' bills of materials.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';

const LIBRARY = fileURLToPath(import.meta.resolve('@cyclonedx/cyclonedx-library/package.json'));

/** The schemas refer to each other by this. */
const BASE = 'http://cyclonedx.org/schema/';
const SUFFIX = '.SNAPSHOT.schema.json';

async function schema(name: string): Promise<object> {
  return JSON.parse(await readFile(join(dirname(LIBRARY), 'res/schema', `${name}${SUFFIX}`), 'utf8'));
}

/** Why this is not a valid CycloneDX 1.6 bill; empty if it is. */
export async function sbomFaults(bill: unknown): Promise<readonly string[]> {
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  // For internationalised addresses and references, which our bills do not contain.
  for (const format of ['idn-email', 'iri-reference']) ajv.addFormat(format, true);
  for (const part of ['spdx', 'jsf-0.82']) ajv.addSchema(await schema(part), `${BASE}${part}${SUFFIX}`);
  const validate = ajv.compile(await schema('bom-1.6'));
  if (validate(bill)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}
