// What the doctor finds: one step of one browser's installation, or of what all browsers share. Printed by the command,
// and shown by the extension's pages when the helper answers.
import * as v from 'valibot';

export const CHECKS = [
  'manifest',
  'extension',
  'launcher',
  'runtime',
  'hello',
  'cache',
  'config',
  'addon',
  'network',
] as const;
export type Check = (typeof CHECKS)[number];

export const findingSchema = v.object({
  /** A browser's title, or a title for what all browsers share. */
  subject: v.string(),
  check: v.picklist(CHECKS),
  /** `problem` makes the doctor fail; `note` is only worth knowing. */
  state: v.picklist(['ok', 'problem', 'note']),
  text: v.string(),
  /** What to do; null when there is nothing to do. */
  remedy: v.nullable(v.string()),
});
export type DoctorFinding = Readonly<v.InferOutput<typeof findingSchema>>;
