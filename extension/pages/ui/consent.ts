// Switching the helper on where that needs the user's consent (Firefox): asked on the click, with the reason above it.
import { askConsent, hasConsent, onConsent } from '../../common/helper/consent.ts';
import { say } from '../../common/words.ts';
import { byId, setText } from './elements.ts';

/** Makes `consent-ask` ask, with `consent-refused` below it. The background hears of the answer from the browser, and the page from the background. */
export function wireConsent(): void {
  const refused = byId('consent-refused');
  byId('consent-ask').addEventListener('click', async () => {
    setText(refused, (await askConsent()) ? '' : say('helperConsentRefused'));
  });
  onConsent(async () => {
    if (await hasConsent()) setText(refused, '');
  });
}
