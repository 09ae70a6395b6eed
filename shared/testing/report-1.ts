// A report of version 1, as the last program that wrote such made it: its verdicts, and those of its races, are in words.
import report from './report-1.json' with { type: 'json' };

export const REPORT_1 = report;
