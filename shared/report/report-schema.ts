// Derives the committed JSON Schemas of the report and of two reports compared from their valibot schemas: `node
// shared/report/report-schema.ts` writes them, and a test keeps them in step.
import { writeFile } from 'node:fs/promises';
import { type ConversionConfig, toJsonSchema } from '@valibot/to-json-schema';
import { comparisonSchema } from '../race/outcome.ts';
import { INNER_MESSAGES, verdictSchema, writtenVerdictSchema } from '../race/verdict-schema.ts';
import { observationModesSchema } from '../web/observation.ts';
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

/** What JSON Schema can express of a canonical https origin; `originSchema` checks the rest. */
const ORIGIN_PATTERN = '^https://[^\\s/?#@A-Z]+$';

const CONFIG: ConversionConfig = {
  typeMode: 'input',
  definitions: INNER_MESSAGES,
  // JSON numbers are `finite` anyway, and transforms do not change a finished document.
  ignoreActions: ['transform', 'finite', 'readonly'],
};

/** The schema as the file's text, in draft-07. */
export function jsonSchemaText({ head, schema: document }: (typeof DOCUMENTS)[number]): string {
  const { $schema: _, $defs, ...verdict } = toJsonSchema(writtenVerdictSchema, CONFIG);
  const schema = toJsonSchema(document, {
    ...CONFIG,
    // Schemas for reading older versions are not part of what is written.
    overrideSchema: ({ valibotSchema }) => (valibotSchema === verdictSchema ? verdict : null),
    overrideAction: ({ valibotAction, jsonSchema }) => {
      if (valibotAction.type !== 'check') return null;
      if ((originSchema.pipe as readonly unknown[]).includes(valibotAction))
        return { ...jsonSchema, pattern: ORIGIN_PATTERN };
      if ((observationModesSchema.pipe as readonly unknown[]).includes(valibotAction))
        return { ...jsonSchema, uniqueItems: true };
      // Constraints between its numbers cannot be expressed in JSON Schema.
      return (comparisonSchema.pipe as readonly unknown[]).includes(valibotAction) ? jsonSchema : null;
    },
  });
  return `${JSON.stringify({ $schema: schema.$schema, ...head, ...schema, $defs }, null, 2)}\n`;
}

if (import.meta.main)
  for (const document of DOCUMENTS) await writeFile(document.file, jsonSchemaText(document));
