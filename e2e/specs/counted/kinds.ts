// Every kind of request whose counts are compared with server logs. Each kind has its own host, so that counts by
// origin are counts by kind, and makes its requests from a page that is visited several times.

/** Functions that the kinds use in the page to make their requests. */
export interface Tools {
  /** Inserts an element and waits until it has loaded or failed. */
  load(tag: string, attributes: Readonly<Record<string, string>>): Promise<unknown>;
  /** Fetches and reads the whole body. */
  get(url: string, init?: RequestInit): Promise<unknown>;
  /** Inserts a frame and waits until it reports that it has finished. */
  frame(url: string): Promise<unknown>;
  /** Resolves once every other kind has made its requests on this page. */
  readonly alone: Promise<void>;
  /** Runs when the page is unloaded. */
  onLeave(run: () => void): void;
}

export interface Kind {
  /** The first label of its host name. */
  readonly name: string;
  /** Description for the table. */
  readonly what: string;
  /** Cache-Control of all its responses; default: none. */
  readonly cacheControl?: string;
  /** Validators of its responses; default: none. */
  readonly validators?: readonly ('ETag' | 'Last-Modified')[];
  /** Whether pages of other origins may see its timings (Timing-Allow-Origin); default: true. */
  readonly timingAllowOrigin?: boolean;
  /** Whether pages of other origins may read its responses (CORS, Cross-Origin-Resource-Policy); default: true. */
  readonly shared?: boolean;
  /** The server that responds; default: Caddy. */
  readonly server?: 'embedded';
  /** Why the counts are not exact, if they are not. */
  readonly why?: string;
  /** Makes the requests, in the page; self-contained. A kind without it has its own page. */
  readonly run?: (origin: string, tools: Tools) => unknown;
}

const CONFIRMED = 'Chromium reports the stored response’s protocol when the server revalidates it (304).';
const HIDDEN = 'Chromium reports the protocol only where Timing-Allow-Origin lets the page see it.';
const BLOCKED =
  'Chromium reports nothing about an opaque response that it blocks (Opaque Response Blocking).';
const LIKE_CACHED = `${CONFIRMED} Without a timing of its own it looks like a response from the cache.`;
const WORKERS = 'Of a worker’s own requests Chromium reports only that a response arrived.';
const LEFT = 'Requests that a page makes when it is left have no timing in Chromium.';

/** In light mode. */
const LOOKS_CONFIRMED =
  'In light mode a response with a header section alone looks like a copy in memory that the server revalidated (304).';
const LOOKS_STORED =
  'In light mode a part may have come from the cache, and then Chromium reports the stored response’s protocol.';

const oneOfEach: NonNullable<Kind['run']> = (origin, { load, get }) =>
  Promise.all([
    load('script', { src: `${origin}/script.js` }),
    load('img', { src: `${origin}/image.png` }),
    load('link', { rel: 'stylesheet', href: `${origin}/style.css` }),
    get(`${origin}/text.txt`),
  ]);

const scriptAndImage: NonNullable<Kind['run']> = (origin, { load }) =>
  Promise.all([load('script', { src: `${origin}/script.js` }), load('img', { src: `${origin}/image.png` })]);

const scriptAndFetch: NonNullable<Kind['run']> = (origin, { load, get }) =>
  Promise.all([load('script', { src: `${origin}/script.js` }), get(`${origin}/text.txt`)]);

const CONFIRMED_BY_ETAG = {
  why: CONFIRMED,
  cacheControl: 'no-cache',
  validators: ['ETag'],
} as const satisfies Partial<Kind>;

export const KINDS: readonly Kind[] = [
  {
    name: 'document',
    what: 'The page itself: `no-cache`, ETag',
    ...CONFIRMED_BY_ETAG,
  },
  {
    name: 'no-store',
    what: 'Script, image, style sheet, fetch: `no-store`',
    cacheControl: 'no-store',
    run: oneOfEach,
  },
  {
    name: 'no-cache',
    what: 'Script, image, style sheet, fetch: `no-cache`, ETag',
    ...CONFIRMED_BY_ETAG,
    run: oneOfEach,
  },
  {
    name: 'again',
    what: 'Script and image twice in a page: `no-cache`, ETag (memory cache)',
    ...CONFIRMED_BY_ETAG,
    run: async (origin, { load }) => {
      for (const file of ['script.js', 'script.js', 'image.png', 'image.png'])
        await load(file === 'script.js' ? 'script' : 'img', { src: `${origin}/${file}` });
    },
  },
  {
    name: 'etag',
    what: 'Script and fetch: an ETag alone',
    why: CONFIRMED,
    validators: ['ETag'],
    run: scriptAndFetch,
  },
  {
    name: 'last-modified',
    what: 'Script and fetch: `no-cache`, Last-Modified',
    why: CONFIRMED,
    cacheControl: 'no-cache',
    validators: ['Last-Modified'],
    run: scriptAndFetch,
  },
  {
    name: 'heuristic',
    what: 'Script and image: Last-Modified alone (heuristic freshness)',
    validators: ['Last-Modified'],
    run: scriptAndImage,
  },
  {
    name: 'immutable',
    what: 'Script and image: `immutable`',
    cacheControl: 'public, max-age=31536000, immutable',
    validators: ['ETag'],
    run: scriptAndImage,
  },
  {
    name: 'memory-cache',
    what: 'One image twice in a page (memory cache)',
    cacheControl: 'max-age=600',
    run: async (origin, { load }) => {
      await load('img', { src: `${origin}/image.png` });
      await load('img', { src: `${origin}/image.png` });
    },
  },
  {
    name: 'http-cache',
    what: 'One fetch twice in a page, `max-age` (HTTP cache)',
    cacheControl: 'max-age=600',
    run: async (origin, { get }) => {
      await get(`${origin}/text.txt`);
      await get(`${origin}/text.txt`);
    },
  },
  {
    name: 'reload',
    what: 'Fetch with `cache: "no-cache"` of a fresh copy, ETag',
    why: CONFIRMED,
    cacheControl: 'max-age=600',
    validators: ['ETag'],
    run: (origin, { get }) => get(`${origin}/text.txt`, { cache: 'no-cache' }),
  },
  {
    name: 'module',
    what: 'Module script and its import: `no-cache`, ETag',
    ...CONFIRMED_BY_ETAG,
    run: (origin, { load }) => load('script', { type: 'module', src: `${origin}/module.js` }),
  },
  {
    name: 'style',
    what: 'Style sheet, its import, image and font',
    why: 'What a style sheet of another origin requests has no timing in Chromium.',
    cacheControl: 'no-store',
    run: async (origin, { load }) => {
      await load('link', { rel: 'stylesheet', href: `${origin}/importing.css` });
      await document.fonts.load('1em counted').catch(() => {});
    },
  },
  {
    name: 'font',
    what: 'Font of a style sheet in the page',
    cacheControl: 'no-store',
    run: async (origin) => {
      const style = document.createElement('style');
      style.textContent = `@font-face { font-family: own; src: url(${origin}/font.woff2); }`;
      document.head.append(style);
      await document.fonts.load('1em own').catch(() => {});
    },
  },
  {
    name: 'preload',
    what: 'Preloaded script, used',
    ...CONFIRMED_BY_ETAG,
    run: async (origin, { load }) => {
      await load('link', { rel: 'preload', as: 'script', href: `${origin}/script.js` });
      await load('script', { src: `${origin}/script.js` });
    },
  },
  {
    name: 'prefetch',
    what: 'Prefetched script, used by the next page',
    cacheControl: 'max-age=600',
    run: async (origin, { alone, load }) => {
      const visit = Math.random();
      const before = sessionStorage.getItem('prefetched');
      if (before !== null) await load('script', { src: before });
      sessionStorage.setItem('prefetched', `${origin}/script.js?${visit}`);
      // Firefox aborts a prefetch as soon as a frame begins to load, of whose response it reports nothing then.
      await alone;
      await load('link', { rel: 'prefetch', as: 'script', href: `${origin}/script.js?${visit}` });
    },
  },
  {
    name: 'redirect',
    what: 'Fetch and image: 302, and what it leads to',
    why: 'A redirect has no timing; what it leads to has.',
    cacheControl: 'no-store',
    run: (origin, { load, get }) =>
      Promise.all([get(`${origin}/redirect`), load('img', { src: `${origin}/redirect?image.png` })]),
  },
  {
    name: 'range',
    what: 'Fetch of a range (206): `no-store`',
    why: LOOKS_STORED,
    cacheControl: 'no-store',
    run: (origin, { get }) => get(`${origin}/text.txt`, { headers: { range: 'bytes=0-9' } }),
  },
  {
    name: 'stored-range',
    what: 'Fetch of a range, then of the whole: `max-age`, ETag',
    why: `${CONFIRMED} For the rest of a stored part it may send more than one request.`,
    cacheControl: 'max-age=600',
    validators: ['ETag'],
    run: async (origin, { get }) => {
      await get(`${origin}/text.txt`, { headers: { range: 'bytes=0-9' } });
      await get(`${origin}/text.txt`);
    },
  },
  {
    name: 'media',
    what: 'Sound, in the ranges that the browser requests',
    cacheControl: 'no-store',
    run: (origin) =>
      new Promise((resolve) => {
        const sound = new Audio(`${origin}/sound.wav`);
        sound.preload = 'auto';
        sound.oncanplaythrough = resolve;
        sound.onerror = resolve;
        sound.load();
      }),
  },
  {
    name: 'no-content',
    what: 'Fetch with a 204 response',
    run: (origin, { get }) => get(`${origin}/no-content`),
  },
  {
    name: 'empty',
    what: 'Fetch with a 200 response without content',
    cacheControl: 'no-store',
    run: (origin, { get }) => get(`${origin}/empty.txt`),
  },
  {
    name: 'head',
    what: 'HEAD',
    cacheControl: 'no-store',
    run: (origin, { get }) => get(`${origin}/text.txt`, { method: 'HEAD' }),
  },
  {
    name: 'post',
    what: 'POST by fetch and by XMLHttpRequest',
    run: async (origin, { get }) => {
      await get(`${origin}/post`, { method: 'POST', body: 'x' });
      await new Promise((resolve) => {
        const request = new XMLHttpRequest();
        request.onloadend = resolve;
        request.open('POST', `${origin}/post`);
        request.send('x');
      });
    },
  },
  {
    name: 'preflight',
    what: 'Fetch with a CORS preflight',
    why: 'Chromium does not report preflights.',
    run: (origin, { get }) => get(`${origin}/text.txt`, { cache: 'no-store', headers: { 'x-counted': '1' } }),
  },
  {
    name: 'error',
    what: 'Script and fetch with a 404 response',
    why: LOOKS_CONFIRMED,
    cacheControl: 'no-store',
    run: (origin, { load, get }) =>
      Promise.all([load('script', { src: `${origin}/absent.js` }), get(`${origin}/absent.txt`)]),
  },
  {
    name: 'beacon',
    what: '`navigator.sendBeacon` in the page and when it is left',
    why: LEFT,
    run: (origin, { onLeave }) => {
      navigator.sendBeacon(`${origin}/post`, 'x');
      onLeave(() => navigator.sendBeacon(`${origin}/post`, 'x'));
    },
  },
  {
    name: 'keepalive',
    what: 'Fetch with `keepalive` in the page and when it is left',
    why: LEFT,
    run: (origin, { get, onLeave }) => {
      onLeave(() => fetch(`${origin}/post`, { method: 'POST', body: 'x', keepalive: true }));
      return get(`${origin}/post`, { method: 'POST', body: 'x', keepalive: true });
    },
  },
  {
    name: 'event-source',
    what: 'EventSource that the server ends',
    cacheControl: 'no-store',
    run: (origin) =>
      new Promise<void>((resolve) => {
        const events = new EventSource(`${origin}/events`);
        // The end of a stream is an error, after which the browser would reconnect.
        events.onerror = () => {
          events.close();
          resolve();
        };
      }),
  },
  {
    name: 'event-source-closed',
    what: 'EventSource that the page closes',
    why: `${LOOKS_CONFIRMED} So does a response that the page has not read to its end.`,
    cacheControl: 'no-store',
    run: (origin) =>
      new Promise<void>((resolve) => {
        const events = new EventSource(`${origin}/endless-events`);
        const end = () => {
          events.close();
          resolve();
        };
        events.onmessage = end;
        events.onerror = end;
      }),
  },
  {
    name: 'websocket',
    what: 'WebSocket',
    why: 'Browsers report no protocol of a WebSocket to extensions, and nothing to pages.',
    run: (origin) =>
      new Promise((resolve) => {
        const socket = new WebSocket(`${origin.replace('https:', 'wss:')}/socket`);
        socket.onmessage = () => socket.close();
        socket.onclose = resolve;
      }),
  },
  {
    name: 'frame',
    what: 'A frame’s document and its resources',
    cacheControl: 'no-store',
    run: (origin, { frame }) => frame(`${origin}/frame.html`),
  },
  {
    name: 'object',
    what: 'Documents in `object` and `embed`, HTML and SVG, and their resources',
    cacheControl: 'no-store',
    run: (origin, { load }) =>
      Promise.all([
        load('object', { type: 'text/html', data: `${origin}/pictured.html` }),
        load('embed', { type: 'image/svg+xml', src: `${origin}/image.svg` }),
      ]),
  },
  {
    name: 'sandboxed',
    what: 'The document of a sandboxed frame, and its resources',
    cacheControl: 'no-store',
    run: (origin, { load }) => load('iframe', { sandbox: 'allow-scripts', src: `${origin}/pictured.html` }),
  },
  {
    name: 'addressless',
    what: 'Images in frames without an https address: `srcdoc`, `blob:`, `about:blank` (initial, opened, navigated to)',
    cacheControl: 'no-store',
    run: async (origin, { load }) => {
      const image = (from: string) => `<img src="${origin}/image.png?${from}">`;
      await load('iframe', { srcdoc: image('srcdoc') });
      const page = new Blob([image('blob')], { type: 'text/html' });
      await load('iframe', { src: URL.createObjectURL(page) });
      const loadIn = async (frame: HTMLIFrameElement, from: string) => {
        const inFrame = frame.contentWindow as Window & typeof globalThis;
        const shown = new inFrame.Image();
        inFrame.document.body.append(shown);
        shown.src = `${origin}/image.png?${from}`;
        await shown.decode();
      };
      const append = () => document.body.appendChild(document.createElement('iframe'));
      await loadIn(append(), 'blank');
      const opened = append();
      opened.contentDocument?.open().write('<body>');
      opened.contentDocument?.close();
      await loadIn(opened, 'opened');
      const again = append();
      const loaded = () => new Promise((resolve) => again.addEventListener('load', resolve, { once: true }));
      again.srcdoc = '<p>';
      await loaded();
      // Without an entry of its own in the history of the page.
      again.contentWindow?.location.replace('about:blank');
      await loaded();
      await loadIn(again, 'again');
    },
  },
  {
    name: 'script-url',
    what: 'Image in a frame that a `javascript:` URL wrote',
    why: 'Chromium attributes the requests of such a document to another one than its timings.',
    cacheControl: 'no-store',
    run: (origin, { load }) => load('iframe', { src: `javascript:'<img src="${origin}/image.png">'` }),
  },
  {
    name: 'worker',
    what: 'A worker’s script and its own fetches: `no-store`',
    why: WORKERS,
    cacheControl: 'no-store',
    run: (origin, { frame }) => frame(`${origin}/worker.html`),
  },
  {
    name: 'no-cache-worker',
    what: 'A worker’s own fetches: `no-cache`, ETag',
    why: LIKE_CACHED,
    cacheControl: 'no-cache',
    validators: ['ETag'],
    run: (origin, { frame }) => frame(`${origin}/worker.html`),
  },
  {
    name: 'hidden',
    what: 'Script and image without Timing-Allow-Origin: `no-store`',
    why: HIDDEN,
    cacheControl: 'no-store',
    timingAllowOrigin: false,
    run: scriptAndImage,
  },
  {
    name: 'hidden-no-cache',
    what: 'Script and fetch without Timing-Allow-Origin: `no-cache`, ETag',
    why: LIKE_CACHED,
    cacheControl: 'no-cache',
    validators: ['ETag'],
    timingAllowOrigin: false,
    run: scriptAndFetch,
  },
  {
    name: 'blocked',
    what: 'Script and image that are HTML, with Timing-Allow-Origin: `no-store`',
    why: BLOCKED,
    cacheControl: 'no-store',
    run: (origin, { load }) =>
      Promise.all([
        load('script', { src: `${origin}/opaque.html` }),
        load('img', { src: `${origin}/opaque.html` }),
      ]),
  },
  {
    name: 'cut-off',
    what: 'Fetch of HTML with `mode: "no-cors"`, with Timing-Allow-Origin: `no-store`',
    why: BLOCKED,
    cacheControl: 'no-store',
    run: (origin, { get }) => get(`${origin}/opaque.html`, { mode: 'no-cors' }),
  },
  {
    name: 'refused',
    what: 'Fetch that CORS refuses, image that Cross-Origin-Resource-Policy refuses: `no-store`',
    why: 'Chromium reports a refused response as a failed request, like one that received none.',
    cacheControl: 'no-store',
    shared: false,
    run: (origin, { load, get }) =>
      Promise.allSettled([get(`${origin}/text.txt`), load('img', { src: `${origin}/image.png` })]),
  },
  {
    name: 'embedded',
    what: 'Script, image, fetch of the server with quinn and hyper: `no-store`',
    server: 'embedded',
    run: (origin, { load, get }) =>
      Promise.all([
        load('script', { src: `${origin}/r/1.js` }),
        load('img', { src: `${origin}/r/2.png` }),
        get(`${origin}/r/3.txt`),
      ]),
  },
  {
    name: 'embedded-fresh',
    what: 'The same: `max-age`',
    server: 'embedded',
    run: (origin, { load, get }) =>
      Promise.all([
        load('script', { src: `${origin}/r/1.js?cache=1` }),
        load('img', { src: `${origin}/r/2.png?cache=1` }),
        get(`${origin}/r/3.txt?cache=1`),
      ]),
  },
  {
    name: 'service-worker',
    what: 'A page under a service worker: script, responses fetched and generated',
    why: WORKERS,
    cacheControl: 'no-store',
  },
  {
    name: 'shared-worker',
    what: 'A shared worker’s script and its own fetches: `no-store`',
    why: WORKERS,
    cacheControl: 'no-store',
  },
  {
    name: 'early-hints',
    what: 'A page, and a script that a 103 response preloads (Early Hints)',
    why: 'Chromium does not report what it preloads for a 103 response.',
    cacheControl: 'no-store',
  },
  {
    name: 'back',
    what: 'A page gone back to, and a fetch of it then',
    cacheControl: 'max-age=600',
  },
];

export const hostOf = (name: string): string => `${name}.test`;
