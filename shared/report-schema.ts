// The committed JSON Schema of the report, derived from its valibot schema: `node shared/report-schema.ts` writes it,
// and a test holds the two together.
import { writeFile } from 'node:fs/promises';
import { toJsonSchema } from '@valibot/to-json-schema';
import { originSchema } from './origin.ts';
import { REPORT_SCHEMA, reportSchema } from './report.ts';

export const REPORT_SCHEMA_FILE = new URL('./report.schema.json', import.meta.url);

/** What JSON Schema can say of a canonical https origin; the rest of the check is `originSchema`'s own. */
const ORIGIN_PATTERN = '^https://[^\\s/?#@A-Z]+$';

/** The schema as the file's text, in draft-07. */
export function reportJsonSchema(): string {
  const schema = toJsonSchema(reportSchema, {
    typeMode: 'input',
    // `finite` is what JSON numbers are anyway, and transforms change nothing of a document already made.
    ignoreActions: ['transform', 'finite'],
    overrideAction: ({ valibotAction, jsonSchema }) =>
      (originSchema.pipe as readonly unknown[]).includes(valibotAction) && valibotAction.type === 'check'
        ? { ...jsonSchema, pattern: ORIGIN_PATTERN }
        : null,
  });
  const head = { $id: REPORT_SCHEMA, title: 'Photofinish report' };
  return `${JSON.stringify({ $schema: schema.$schema, ...head, ...schema }, null, 2)}\n`;
}

if (import.meta.main) await writeFile(REPORT_SCHEMA_FILE, reportJsonSchema());
