// Registers the service worker for this page only, and says when it will answer the next visit.
document.addEventListener('DOMContentLoaded', async () => {
  const status = document.getElementById('worker');
  try {
    const registration = await navigator.serviceWorker.register('/sw.js', { scope: '/sw' });
    const worker = registration.installing ?? registration.waiting ?? registration.active;
    const ready = () => {
      if (worker.state !== 'activated') return;
      status.innerHTML = 'The service worker is ready. <a href="/sw">Visit again</a>';
      status.dataset.ready = 'true';
    };
    worker.addEventListener('statechange', ready);
    ready();
  } catch (error) {
    status.textContent = `No service worker: ${error.message}`;
  }
});
