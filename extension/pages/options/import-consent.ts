// Asks, one by one, for what an imported file would switch on. The answer that changes nothing is the one at hand.

import { say, type WordKey } from '../../common/words.ts';
import { CONSENTS, type Consent } from '../../ledger/consents.ts';
import { byId, setText } from '../ui/elements.ts';

const QUESTIONS: Record<Consent, WordKey> = {
  races: 'optionsImportAskRaces',
  'first-visit-races': 'optionsImportAskFirstVisit',
  'private-windows': 'optionsImportAskPrivate',
  steering: 'optionsImportAskSteering',
  retention: 'optionsImportAskRetention',
};

function ask(consent: Consent, retentionDays: number): Promise<boolean> {
  const dialog = byId<HTMLDialogElement>('consent-dialog');
  setText(byId('consent-what'), say(QUESTIONS[consent], { count: retentionDays }));
  const answer = new Promise<boolean>((resolve) => {
    dialog.addEventListener('close', () => resolve(dialog.returnValue === consent), { once: true });
  });
  // Closed by the keyboard it gives what was set before.
  dialog.returnValue = '';
  byId<HTMLButtonElement>('consent-yes').value = consent;
  dialog.showModal();
  return answer;
}

/** What the user consents to of what the file wants; its retention is `retentionDays`. */
export async function askConsents(
  wanted: readonly Consent[],
  retentionDays: number,
): Promise<ReadonlySet<Consent>> {
  const given = new Set<Consent>();
  for (const consent of CONSENTS)
    if (wanted.includes(consent) && (await ask(consent, retentionDays))) given.add(consent);
  return given;
}
