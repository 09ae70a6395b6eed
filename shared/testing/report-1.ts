// A report of version 1, written by the last program of that version: its verdicts, and those of its races, are text.
import report from './report-1.json' with { type: 'json' };

export const REPORT_1 = report;
