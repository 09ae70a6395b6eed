// The configuration that README.md shows; here it is type-checked.
import type { PhotofinishFixtures } from '@photofinish/e2e/playwright';
import { defineConfig } from '@playwright/test';

export default defineConfig<PhotofinishFixtures>({
  use: {
    photofinishOptions: {
      // The helper's settings, here for a server on this computer; `false` runs without the helper.
      helper: { allowPrivate: ['127.0.0.0/8'], ca: ['/path/to/ca.pem'] },
      attachReport: false,
    },
  },
});
