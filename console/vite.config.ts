// Builds the console into `dist`, from which the service serves it under any path.
import { defineConfig } from 'vite';

export default defineConfig({
  // The service writes the base of the page, so that its files are found from every address of the console.
  base: './',
  build: {
    outDir: 'dist',
    assetsDir: 'files',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    // Charts are on few screens, and as large as everything else.
    chunkSizeWarningLimit: 700,
  },
});
