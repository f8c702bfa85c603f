// Tests that a page learns that its origin is not allowed, at once, and only then.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createMediary } from './mediary.ts';

beforeEach(() => {
  vi.stubGlobal('document', {});
  vi.stubGlobal('location', { origin: 'https://app.test' });
});
afterEach(() => {
  vi.unstubAllGlobals();
});

/** As a browser: `reaches` decides by the mode of a request. */
function createClient(reaches: (mode: unknown) => boolean, baseUrl = 'https://media.test') {
  const modes: unknown[] = [];
  const fetchAs: typeof fetch = async (_input, init) => {
    modes.push(init?.mode);
    if (!reaches(init?.mode)) throw new TypeError('Failed to fetch');
    return new Response(null);
  };
  return { modes, mediary: createMediary({ baseUrl, token: 't', fetch: fetchAs, maxRetries: 0 }) };
}

test('a page whose origin is missing is told the setting, without retries', async () => {
  const { modes, mediary } = createClient((mode) => mode === 'no-cors');
  const failure = await mediary.media.get('a', { maxRetries: 4 }).catch((error: unknown) => error);
  expect(failure).toMatchObject({
    errorCode: 'CORS_REFUSED',
    message: expect.stringContaining('Add https://app.test to its setting CORS_ORIGINS.'),
  });
  expect(modes).toEqual([undefined, 'cors', 'no-cors']);
});

describe('the connection is at fault', () => {
  test.each([
    ['where nothing answers', () => false, 'https://media.test'],
    ['where this request alone failed', (mode: unknown) => mode !== undefined, 'https://media.test'],
    ['on the origin of the service', (mode: unknown) => mode === 'no-cors', 'https://app.test/media'],
  ])('%s', async (_name, reaches, baseUrl) => {
    const { mediary } = createClient(reaches, baseUrl);
    await expect(mediary.media.get('a')).rejects.toMatchObject({ errorCode: 'CONNECTION_FAILED' });
  });

  test('outside of a page', async () => {
    vi.unstubAllGlobals();
    const { mediary } = createClient((mode) => mode === 'no-cors');
    await expect(mediary.media.get('a')).rejects.toMatchObject({ errorCode: 'CONNECTION_FAILED' });
  });
});
