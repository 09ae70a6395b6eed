// Whether the addon exists and loads: without it nothing can be raced, because it provides QUIC, DNS and the
// verification of certificates, including those for HTTP/2.
import type { DoctorFinding as Finding } from '@photofinish/shared/port/doctor';
import { AddonMissing, addonPackage, loadQuicAddon } from '../quic/addon.ts';
import { VERSION } from '../version.ts';
import { findingOn } from './doctor.ts';

/** A finding that concerns no particular browser. */
export const helperFinding = findingOn('Helper');

function addonRemedy(missing: boolean, isCheckout: boolean): string {
  if (isCheckout) return 'Run "npm run build" at the top of the checkout.';
  const name = addonPackage();
  if (!missing)
    return `Install ${name} ${VERSION} again, on this system and with the Node that runs the helper.`;
  const file = `${name.replace('@photofinish/', 'photofinish-')}-${VERSION}.tgz`;
  return `npm skips it silently if it cannot download it. Install it beside photofinish: ${file} from the release, or ${name} from the registry.`;
}

/** The doctor's finding about the addon. */
export function addonFinding(isCheckout: boolean): Finding {
  try {
    loadQuicAddon();
    return helperFinding('addon', 'ok', 'the QUIC addon loads');
  } catch (error) {
    const [why] = (error instanceof Error ? error.message : String(error)).split('\n');
    const text = `the QUIC addon cannot be loaded, so nothing can be raced: ${why}`;
    return helperFinding('addon', 'problem', text, addonRemedy(error instanceof AddonMissing, isCheckout));
  }
}
