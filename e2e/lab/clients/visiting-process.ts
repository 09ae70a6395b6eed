// The browser's side of a turn, a process inside the client's namespace, where a browser and who drives it have the same
// loopback: with JSON visits as its argument it makes them, and prints the trials.
import { startChromium, startFirefox } from './cold-browsers.ts';
import { makeVisits, type Visits } from './visits.ts';

const visits = JSON.parse(process.argv[2] ?? '') as Visits;
const start = { chromium: startChromium, firefox: startFirefox }[visits.browser];
const browser = await start(visits);
try {
  process.stdout.write(JSON.stringify(await makeVisits(browser, visits)));
} finally {
  await browser.close();
}
