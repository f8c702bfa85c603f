// Tests what `update` sends, and that it refuses to send nothing.
import type { Server } from 'node:http';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { EXAMPLE_ASSET } from '@mediary/contract/schemas/assets/asset';
import { runInProcess, serve } from '../../program.fixture.ts';

let server: Server;
let url: string;
let requests: string[];
beforeAll(async () => {
  ({ server, url } = await serve(async (request, response) => {
    requests.push(`${request.method} ${request.url} ${await text(request)}`);
    response.end(JSON.stringify({ success: true, data: EXAMPLE_ASSET }));
  }));
});
beforeEach(() => {
  requests = [];
});
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mediary-update-'));
  await writeFile(join(folder, 'good.txt'), '0:00 Intro\n1:05 The end\n');
  await writeFile(join(folder, 'bad.txt'), '0:00 Intro\nThe end\n');
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});

const update = (...args: string[]) =>
  runInProcess(['update', 'a-1', ...args], {
    env: { HOME: '/none', MEDIARY_URL: url, MEDIARY_TOKEN: 'secret' },
    folder,
  });

test.each([
  [['--focal-point', '0.3,0.6'], { focal_point: { x: 0.3, y: 0.6 } }],
  [['--focal-point', 'none'], { focal_point: null }],
  [
    [
      '--allow-site',
      'a.example',
      '--allow-site',
      '*.b.example',
      '--allow-country',
      'DE',
      '--forbid-downloads',
    ],
    { access: { referrers: ['a.example', '*.b.example'], countries: ['DE'], downloads: false } },
  ],
  [['--clear-access'], { access: null }],
  [['--chapters', 'none'], { chapters: null }],
  [
    ['--chapters', 'good.txt'],
    {
      chapters: [
        { start_ms: 0, title: 'Intro' },
        { start_ms: 65_000, title: 'The end' },
      ],
    },
  ],
  [['--title', 'New', '--public'], { visibility: 'public', title: 'New' }],
])('%j changes only what it names', async (args, body) => {
  const { code, stdout } = await update(...args);
  expect([code, requests.length]).toEqual([0, 1]);
  expect(stdout).toContain(EXAMPLE_ASSET.id);
  const [, method, path, json = ''] = /^(\S+) (\S+) (.*)$/.exec(requests[0] ?? '') ?? [];
  expect([method, path, JSON.parse(json)]).toEqual(['PATCH', '/api/v1/media/a-1', body]);
});

test.each([
  [[], 'Nothing to do.'],
  [['--focal-point', '1.2,0'], 'from 0,0 (top left) to 1,1'],
  [['--focal-point', 'center'], 'from 0,0 (top left) to 1,1'],
  [['--private', '--public'], 'cannot be used with'],
  [['--clear-access', '--allow-network', '10.0.0.0/8'], 'removes all rules'],
  [['--chapters', 'bad.txt'], 'bad.txt: Line 2 must be a time and a title'],
  [['--chapters', 'missing.txt'], 'cannot be read'],
])('%j sends nothing', async (args, message) => {
  const { code, stderr } = await update(...args);
  expect([code, requests]).toEqual([2, []]);
  expect(stderr).toContain(message);
});
