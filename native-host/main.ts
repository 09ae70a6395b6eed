// The helper's entry point: a browser starts it, communicates over stdin and stdout, and ends it by closing stdin. It
// only connects the parts; what a race needs is loaded with the first race.

// First of all, because nothing may print before it.
import './wire/stdio.ts';
import type { SentReply } from '@photofinish/shared/port/reply';
import { WIRE_ERRORS } from '@photofinish/shared/port/wire';
import { cacheSalt, openHostCache } from './cache/store.ts';
import { systemClock } from './clock.ts';
import { type FleetSettings, loadSettings, type Settings, SettingsError } from './config.ts';
import type { Fleet } from './fleet/fleet.ts';
import { openLog } from './log.ts';
import { recordOnlyOn, systemSource, watchNetwork } from './network/watch.ts';
import { raceBudget } from './race/budget.ts';
import { PROGRAM } from './version.ts';
import { type Caller, callerOf, helperArguments } from './wire/caller.ts';
import { createDeframer, framesOf } from './wire/framing.ts';
import { Outbox } from './wire/outbox.ts';
import { type RaceRunner, Session } from './wire/session.ts';
import { BROWSER, complain, readFromBrowser } from './wire/stdio.ts';

const EXIT_OK = 0;
const EXIT_REFUSED = 2;
const EXIT_STUCK = 3;
/** Races are told to stop when the browser goes; a peer that is slow to close must not keep the helper alive. */
const FAREWELL_MS = 250;

let whenStuck = (): void => process.exit(EXIT_STUCK);
const outbox = new Outbox({
  pipe: BROWSER,
  clock: systemClock,
  onStuck(bytes) {
    complain(`photofinish: stuck: the browser has stopped reading; ${bytes} bytes of replies were waiting\n`);
    whenStuck();
  },
});

let forecastSent = false;

/** Whether a forecast was answered, so that all the code that a start needs has run. */
export function hasForecast(): boolean {
  return forecastSent;
}

function send(reply: SentReply): void {
  if (reply.type === 'forecast') forecastSent = true;
  for (const bytes of framesOf(reply)) outbox.send(bytes);
}

/** Reports the reason to the extension and on stderr, and ends. */
function refuse(code: 'unknown-caller' | 'internal', message: string): never {
  complain(`photofinish: ${code}: ${message}\n`);
  send({ id: 0, type: 'error', code, message });
  process.exit(EXIT_REFUSED);
}

function settingsOf(config: string | null): Settings {
  try {
    return loadSettings(config);
  } catch (error) {
    if (error instanceof SettingsError)
      refuse('internal', `the helper's settings cannot be used: ${error.message}`);
    throw error;
  }
}

/**
 * Opens the parts, gives each what it needs of the others, and reads until the browser closes. Every part is named once
 * and several need parts that are opened after them, so all of it is in one place in spite of its length.
 */
function serve(settings: Settings, caller: Caller): void {
  const clock = systemClock;
  const aboutSalt: string[] = [];
  const salt = cacheSalt(settings.cachePath, (message) => aboutSalt.push(message));
  const log = openLog({ path: settings.logsPath, salt, clock, complain });
  for (const message of aboutSalt) log.write('salt', { message });
  let fleet: Fleet | undefined;
  const cache = openHostCache({
    path: settings.cachePath,
    clock,
    log: (message) => log.write('cache', { message }),
    sharedKey: (origin) => fleet?.keyOf(origin) ?? null,
  });
  const network = watchNetwork({
    source: systemSource(process.platform, clock),
    salt,
    clock,
    onChange: (from, to) => log.write('network', { from, to }),
  });

  async function joinFleet(fleetSettings: FleetSettings): Promise<void> {
    const logFleet = (message: string): void => log.write('fleet', { message });
    try {
      const { openFleet } = await import('./fleet/fleet.ts');
      fleet = openFleet({ settings: fleetSettings, cache, clock, log: logFleet });
    } catch (error) {
      logFleet(`nothing is shared: ${(error as Error).message}`);
    }
  }

  let racing: Promise<RaceRunner> | undefined;
  async function openRunner(): Promise<RaceRunner> {
    const { racesOverPort } = await import('./wire/race-over-port.ts');
    return racesOverPort({ settings, cache: recordOnlyOn(network, cache), clock });
  }
  const session = new Session({
    program: PROGRAM,
    cache,
    network,
    budget: raceBudget(clock),
    race: async (order) => {
      // The cause, a missing CA file for example, may be fixed before the next race.
      racing ??= openRunner().catch((error) => {
        racing = undefined;
        throw error;
      });
      return (await racing)(order);
    },
    doctor: async () => {
      const { allFindings } = await import('./install/examination.ts');
      return allFindings({ userDataDirectory: null, extensionIds: [], config: settings.source, caller });
    },
    share: (race) => fleet?.share(race),
    send,
    log,
  });
  if (settings.fleet !== null) void joinFleet(settings.fleet);

  async function leave(code: number = EXIT_OK): Promise<void> {
    setTimeout(() => process.exit(code), FAREWELL_MS);
    await session.end();
    cache.save();
    await outbox.empty();
    // Otherwise each start would have to read again what all those before it wrote, up to 4 MB, twice.
    cache.close();
    process.exit(code);
  }
  whenStuck = () => {
    log.write('stuck');
    void leave(EXIT_STUCK);
  };

  const deframer = createDeframer();
  let messages = 0;
  readFromBrowser(
    (bytes) => {
      for (const inbound of deframer.push(bytes)) {
        messages += 1;
        if (inbound.kind === 'message') session.receive(inbound.value);
        else if (inbound.kind === 'bad-json') session.refuse('bad-json', inbound.message);
        else {
          session.refuse('message-too-large', `${WIRE_ERRORS['message-too-large']}: ${inbound.bytes} bytes`);
          void leave();
          return 'stop';
        }
      }
      // After hello alone there is nothing to do except wait for the first question, unless the network is not
      // identified yet, or outcomes are shared, which need a running event loop.
      return messages < 2 && settings.fleet === null && network.settledKey() !== null ? 'wait' : 'listen';
    },
    () => void leave(),
  );
}

const { config, browser } = helperArguments(process.argv.slice(2));
const caller = callerOf(browser);
if (caller === null) refuse('unknown-caller', WIRE_ERRORS['unknown-caller']);
serve(settingsOf(config), caller);
