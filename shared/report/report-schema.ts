// The committed JSON Schemas of the report and of two reports compared, derived from their valibot schemas:
// `node shared/report/report-schema.ts` writes them, and a test holds each pair together.
import { writeFile } from 'node:fs/promises';
import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema';
import { INNER_MESSAGES } from '../race/message-schema.ts';
import { comparisonSchema } from '../race/outcome.ts';
import { verdictSchema, writtenVerdictSchema } from '../race/verdict-schema.ts';
import { originSchema } from '../web/origin.ts';
import { REPORT_SCHEMA, reportSchema } from './report.ts';
import { REPORT_DIFF_SCHEMA, reportDiffSchema } from './report-diff.ts';

export const DOCUMENTS = [
  {
    file: new URL('./report.schema.json', import.meta.url),
    head: { $id: REPORT_SCHEMA, title: 'Photofinish report' },
    schema: reportSchema,
  },
  {
    file: new URL('./report-diff.schema.json', import.meta.url),
    head: { $id: REPORT_DIFF_SCHEMA, title: 'Comparison of two Photofinish reports' },
    schema: reportDiffSchema,
  },
] as const;

/** What JSON Schema can say of a canonical https origin; the rest of the check is `originSchema`'s own. */
const ORIGIN_PATTERN = '^https://[^\\s/?#@A-Z]+$';

const CONFIG: ConversionConfig = {
  typeMode: 'input',
  definitions: INNER_MESSAGES,
  // `finite` is what JSON numbers are anyway, and transforms change nothing of a document already made.
  ignoreActions: ['transform', 'finite'],
};

/** The schema as the file's text, in draft-07. */
export function jsonSchemaText({ head, schema: document }: (typeof DOCUMENTS)[number]): string {
  const { $schema: _, $defs, ...verdict } = toJsonSchema(writtenVerdictSchema, CONFIG);
  const schema = toJsonSchema(document, {
    ...CONFIG,
    // What is read of older versions is no part of what is written.
    overrideSchema: ({ valibotSchema }) => (valibotSchema === verdictSchema ? verdict : null),
    overrideAction: ({ valibotAction, jsonSchema }) => {
      if (valibotAction.type !== 'check') return null;
      if ((originSchema.pipe as readonly unknown[]).includes(valibotAction))
        return { ...jsonSchema, pattern: ORIGIN_PATTERN };
      // How its numbers bear on each other is beyond JSON Schema.
      return (comparisonSchema.pipe as readonly unknown[]).includes(valibotAction) ? jsonSchema : null;
    },
  });
  return `${JSON.stringify({ $schema: schema.$schema, ...head, ...schema, $defs }, null, 2)}\n`;
}

if (import.meta.main)
  for (const document of DOCUMENTS) await writeFile(document.file, jsonSchemaText(document));
