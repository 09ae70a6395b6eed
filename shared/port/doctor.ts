// The doctor's findings: each is one step of one browser's installation, or of what all browsers share. Printed by the
// command, and shown by the extension's pages when the helper answers.
import * as v from 'valibot';
import { MAX_LABEL_CHARS, text } from '../web/bounds.ts';

/** It may contain a path, and the output of a program. */
export const MAX_FINDING_CHARS = 16_384;

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
  subject: text(MAX_LABEL_CHARS),
  check: v.picklist(CHECKS),
  /** `problem` makes the doctor fail; `note` is for information only. */
  state: v.picklist(['ok', 'problem', 'note']),
  text: text(MAX_FINDING_CHARS),
  /** What to do; null if there is nothing to do. */
  remedy: v.nullable(text(MAX_FINDING_CHARS)),
});
export type DoctorFinding = Readonly<v.InferOutput<typeof findingSchema>>;
