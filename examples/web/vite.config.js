import { defineConfig } from 'vite';

export default defineConfig({
  // It may be served from any folder.
  base: './',
  build: {
    outDir: '../../build/web',
    emptyOutDir: true,
    sourcemap: true,
    target: 'es2022',
    // The policy of the page lets nothing be loaded from data: URLs but pictures.
    assetsInlineLimit: 0,
  },
});
