// `npm run check`: types, format, lint and generated files, without running any test.
import { runTests } from './test.ts';

process.exitCode = await runTests('check', process.argv.slice(2));
