// CycloneDX's own schema, for tests of the bills that packages have.
import { readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';

const LIBRARY = fileURLToPath(import.meta.resolve('@cyclonedx/cyclonedx-library/package.json'));

/** By which the schemas refer to each other. */
const BASE = 'http://cyclonedx.org/schema/';
const SUFFIX = '.SNAPSHOT.schema.json';

async function schema(name: string): Promise<object> {
  return JSON.parse(await readFile(join(dirname(LIBRARY), 'res/schema', `${name}${SUFFIX}`), 'utf8'));
}

/** Why this is no bill of CycloneDX 1.6; empty: it is one. */
export async function sbomFaults(bill: unknown): Promise<readonly string[]> {
  const ajv = new Ajv({ strict: false, allErrors: true });
  addFormats.default(ajv);
  // Of internationalized addresses and references, which no bill of ours has.
  for (const format of ['idn-email', 'iri-reference']) ajv.addFormat(format, true);
  for (const part of ['spdx', 'jsf-0.82']) ajv.addSchema(await schema(part), `${BASE}${part}${SUFFIX}`);
  const validate = ajv.compile(await schema('bom-1.6'));
  if (validate(bill)) return [];
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}
