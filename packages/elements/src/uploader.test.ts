// The uploader as pages load it: its size, and its React component where there is no browser.
import { join } from 'node:path';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { expect, test } from 'vitest';
import { measureBundle } from '../../../test/support/tree/bundle-size.ts';
import { MediaryUploader } from './react.ts';

test('a page loads at most 35 KB for it, before the first file', async () => {
  const { atOnce } = await measureBundle(join(import.meta.dirname, 'uploader.ts'));
  expect(atOnce).toBeLessThan(35_000);
});

test('its React component renders on a server, where there is no window', () => {
  const children = createElement('span', { slot: 'prompt' }, 'Films');
  const html = renderToString(createElement(MediaryUploader, { endpoint: '/uploads', children }));
  expect(html).toBe('<mediary-uploader><span slot="prompt">Films</span></mediary-uploader>');
});
