// A browser as a program that obeys one command per line, so that the link can be changed between its visits: it runs
// inside the client's namespace, since a browser and its driver share a loopback device.
import { createInterface } from 'node:readline';
import * as v from 'valibot';
import { DEADLINE_MS } from '../client.ts';
import { startChromium, startFirefox } from '../clients/cold-browsers.ts';
import type { BrowserSettings, ColdProfile } from '../clients/visits.ts';

const commandSchema = v.variant('do', [
  /** Closes the profile, if there is one, and opens another without history. */
  v.object({ do: v.literal('forget') }),
  v.object({ do: v.literal('visit'), url: v.string() }),
  /** Closes all connections of the profile, which keeps what it has learnt. */
  v.object({ do: v.literal('part') }),
]);
export type Command = v.InferOutput<typeof commandSchema>;

/** The reply to a command; the error says why a visit failed. */
export const replySchema = v.object({ error: v.optional(v.string()) });
export type Reply = v.InferOutput<typeof replySchema>;

async function visit({ tab }: ColdProfile, url: string): Promise<Reply> {
  try {
    await tab.goto(url, { timeoutMs: DEADLINE_MS });
    return {};
  } catch (error) {
    return { error: String(error).split('\n')[0] ?? '' };
  }
}

async function obey(settings: BrowserSettings): Promise<void> {
  const running = await { chromium: startChromium, firefox: startFirefox }[settings.browser](settings);
  let profile: ColdProfile | null = null;
  const reply = (told: Reply) => process.stdout.write(`${JSON.stringify(told)}\n`);
  try {
    reply({});
    for await (const line of createInterface(process.stdin)) {
      const command = v.parse(commandSchema, JSON.parse(line));
      if (command.do === 'forget') {
        await profile?.close();
        profile = await running.newProfile();
      }
      if (profile === null) throw new Error('there is no profile yet');
      if (command.do === 'part') await profile.partFromServers();
      reply(command.do === 'visit' ? await visit(profile, command.url) : {});
    }
  } finally {
    await running.close();
  }
}

if (import.meta.main) await obey(JSON.parse(process.argv[2] ?? '') as BrowserSettings);
