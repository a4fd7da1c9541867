/** Shows the outcome of one place, once it is there. */
export async function show(place, outcome) {
  const output = document.createElement('output');
  output.id = place;
  output.textContent = await outcome;
  document.body.append(output);
}

/** The outcome in a worker. */
export function fromWorker(worker) {
  return new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = ({ message }) => resolve(`the worker broke: ${message}`);
  });
}

/** The outcome in a service worker, which has been registered. */
export async function fromServiceWorker(registering) {
  try {
    await registering;
  } catch (error) {
    return `the service worker broke: ${error}`;
  }
  const answer = new Promise((resolve) => {
    navigator.serviceWorker.onmessage = ({ data }) => resolve(data);
  });
  (await navigator.serviceWorker.ready).active.postMessage('');
  return answer;
}
