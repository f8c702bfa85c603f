// The uploader as pages load it: its size, and its React component where there is no browser.
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import { MediaryUploader } from './react.ts';

test('a page loads at most 35 KB for it, before an upload by tus', async () => {
  const input = join(import.meta.dirname, 'uploader.ts');
  const bundle = await rolldown({ input, platform: 'browser', external: ['tus-js-client'] });
  const { output } = await bundle.generate({ format: 'esm', minify: true });
  await bundle.close();
  const sizes = output.map((file) => gzipSync('code' in file ? file.code : file.source).length);
  expect(sizes.reduce((sum, size) => sum + size)).toBeLessThan(35_000);
});

test('its React component renders on a server, where there is no window', () => {
  const children = createElement('span', { slot: 'prompt' }, 'Films');
  const html = renderToString(createElement(MediaryUploader, { endpoint: '/uploads', children }));
  expect(html).toBe('<mediary-uploader><span slot="prompt">Films</span></mediary-uploader>');
});
