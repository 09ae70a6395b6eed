// A port from a page, with the page's end controlled by the test.
import type { PagePort } from '../common/browser.ts';

export function pagePort() {
  let send: (message: unknown) => void = () => {};
  let close: () => void = () => {};
  const port: PagePort = {
    onMessage: {
      addListener(listen) {
        send = listen;
      },
    },
    onDisconnect: {
      addListener(listen) {
        close = listen;
      },
    },
  };
  return { port, send: (message: unknown) => send(message), close: () => close() };
}
