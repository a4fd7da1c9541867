new Worker(new URL('./worker.js', import.meta.url), { type: 'module' }).addEventListener('error', ({ message }) => {
  console.error(message);
});
