// `npm run unit [-- NAME...]`: unit tests alone, which build nothing and open no browser.
import { runTests } from './test.ts';

process.exitCode = await runTests('unit', process.argv.slice(2));
