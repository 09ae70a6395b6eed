// English for programs that run outside a browser: importing this file selects it. A browser brings its own catalogs.
import codes from '../_locales/en/codes.json' with { type: 'json' };
import catalog from '../_locales/en/shared.json' with { type: 'json' };
import { useCatalog } from './catalog.ts';
import { ENGLISH_FORMS } from './number-forms.ts';

const messages: Readonly<Record<string, { readonly message: string }>> = { ...catalog, ...codes };

useCatalog((key) => messages[key]?.message ?? '', 'en', ENGLISH_FORMS);
