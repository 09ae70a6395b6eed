// Starts the built helper as a browser would, for tests and benchmarks that need no browser.
import { fileURLToPath } from 'node:url';
import { CHROMIUM_EXTENSION_ID } from '@photofinish/shared/port/extension-id';
import { type HostPort, openHost } from './port.ts';

const HELPER_MAIN = fileURLToPath(new URL('../../native-host/dist/main.cjs', import.meta.url));

/** Arguments after the runtime's: the helper with these settings, called by the extension. */
export function helperArguments(config: string): string[] {
  return [HELPER_MAIN, '--config', config, '--', `chrome-extension://${CHROMIUM_EXTENSION_ID}/`];
}

/** A helper with these settings, its hello not yet said. */
export function openHelper(config: string): HostPort {
  return openHost(process.execPath, helperArguments(config));
}

/** Says hello and gives the answer; throws when it is none. */
export async function greet(port: HostPort): Promise<Record<string, unknown>> {
  port.send({ type: 'hello', id: 1, protocol: 1, program: 'e2e/1' });
  const reply = await port.next();
  if (reply.type !== 'hello') throw new Error(`no hello but ${JSON.stringify(reply)}`);
  return reply;
}
