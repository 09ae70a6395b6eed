// Answers navigations itself, so that the page uses no protocol at all.
const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Answered by a service worker</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<style>body { max-width: 44rem; margin: 3rem auto; padding: 0 1rem; font: 1rem/1.5 system-ui; }</style>
<h1>${self.location.host}</h1>
<p>Served by <strong id="protocol">a service worker</strong></p>
<p>No request left the browser for this page. <a href="/">Front page</a></p>
</html>`;

self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('fetch', (event) => {
  if (event.request.mode !== 'navigate') return;
  event.respondWith(new Response(PAGE, { headers: { 'content-type': 'text/html; charset=utf-8' } }));
});
