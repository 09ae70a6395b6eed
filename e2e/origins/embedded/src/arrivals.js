// Marks each cell with the protocol its resource says it came over, and sums up at the end.
const NAMES = { 3: 'HTTP/3', 2: 'HTTP/2', 1: 'HTTP/1.1', failed: 'failed' };

function arrived(element, protocol) {
  const cell = element.closest('li');
  cell.dataset.protocol = protocol;
  cell.textContent = protocol === 'failed' ? '!' : protocol;
  cell.title = NAMES[protocol];
  sumUp();
}

function sumUp() {
  const cells = [...document.querySelectorAll('.cells li')];
  const settled = cells.filter((cell) => cell.dataset.protocol);
  if (document.readyState === 'loading' || settled.length < cells.length) return;
  const counts = Object.entries(NAMES)
    .reverse()
    .flatMap(([protocol, name]) => {
      const count = cells.filter((cell) => cell.dataset.protocol === protocol).length;
      return count ? [`${count} ${protocol === 'failed' ? name : `over ${name}`}`] : [];
    });
  const summary = document.getElementById('summary');
  summary.textContent = `${cells.length} resources: ${counts.join(', ')}.`;
  summary.dataset.done = 'true';
}

function settle(event) {
  const { target } = event;
  if (!(target instanceof HTMLImageElement || target instanceof HTMLScriptElement)) return;
  if (event.type === 'error') arrived(target, 'failed');
  else if (target instanceof HTMLImageElement) arrived(target, target.naturalWidth);
}

document.addEventListener('load', settle, true);
document.addEventListener('error', settle, true);
document.addEventListener('DOMContentLoaded', () => {
  for (const cell of document.querySelectorAll('[data-fetch]')) {
    fetch(cell.dataset.fetch)
      .then((response) => response.text())
      .then((text) => arrived(cell, Number(text.slice(0, 1))))
      .catch(() => arrived(cell, 'failed'));
  }
  sumUp();
});
