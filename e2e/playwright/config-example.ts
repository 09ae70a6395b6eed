// The configuration that README.md shows; here it is type-checked.
import { createHash, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { PhotofinishFixtures } from '@photofinish/e2e/playwright';
import { defineConfig } from '@playwright/test';

const host = 'site.test';
const port = 8443;
// The server's own certificate, not that of its CA.
const { publicKey } = new X509Certificate(readFileSync('/path/to/site.pem'));
const spki = createHash('sha256')
  .update(publicKey.export({ type: 'spki', format: 'der' }))
  .digest('base64');

export default defineConfig<PhotofinishFixtures>({
  use: {
    launchOptions: {
      args: [
        `--host-resolver-rules=MAP ${host} 127.0.0.1`,
        `--ignore-certificate-errors-spki-list=${spki}`,
        // Allows HTTP/3 to every port of the host, and forces it on this one, which nothing listens on.
        `--origin-to-force-quic-on=${host}:9`,
      ],
    },
    photofinishOptions: {
      // The helper's settings; `false` runs without the helper.
      helper: {
        allowPrivate: ['127.0.0.0/8'],
        ca: ['/path/to/ca.pem'],
        resolve: { [`${host}:${port}`]: '127.0.0.1' },
      },
      // By default every test's report is attached.
      attachReport: false,
    },
  },
});
