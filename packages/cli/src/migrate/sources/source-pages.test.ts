// Sources are listed to the end of their last page, and no video comes twice.
import type { Server } from 'node:http';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serve } from '../../program.fixture.ts';
import type { MigrationSource } from '../source.ts';
import { openCdnhostSource } from './cdnhost-source.ts';
import { openEdgehostSource } from './edgehost-source.ts';

let server: Server;
let origin: string;
let replyTo: (url: URL) => object;
beforeAll(async () => {
  ({ server, url: origin } = await serve((request, response) => {
    response.end(JSON.stringify(replyTo(new URL(request.url ?? '', origin))));
  }));
});
afterAll(() => server.close());

const { signal } = new AbortController();

async function listIds(source: MigrationSource): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of source.listItems()) ids.push(id);
  return ids;
}

test('cdnhost has numbered pages; a video that is added meanwhile moves the others', async () => {
  const guids = Array.from({ length: 250 }, (_, index) => `v${index}`);
  const listed = [...guids];
  replyTo = ({ pathname, searchParams: query }) => {
    if (pathname.endsWith('/collections')) return { totalItems: 0, items: [] };
    const [page, size] = [Number(query.get('page')), Number(query.get('itemsPerPage'))];
    const found = listed.slice((page - 1) * size, page * size);
    const reply = { totalItems: listed.length, items: found.map((guid) => ({ guid, status: 4 })) };
    if (page === 1) listed.unshift('added');
    return reply;
  };
  const env = {
    CDNHOST_STREAM_LIBRARY_ID: '7',
    CDNHOST_STREAM_API_KEY: 'key',
    CDNHOST_STREAM_HOSTNAME: 'zone.test',
    CDNHOST_API_URL: origin,
  };
  expect(await listIds(openCdnhostSource(env, signal))).toEqual(guids);
});

test('edgehost has no cursor: the next page starts at the time of the last video', async () => {
  const created = [0, 10, 10, 20, 30].map((ms) => new Date(1_700_000_000_000 + ms).toISOString());
  const videos = created.map((time, index) => ({ uid: `v${index}`, created: time }));
  replyTo = ({ searchParams: query }) => {
    const after = Date.parse(query.get('after') ?? '1970-01-01');
    const found = videos.filter((video) => Date.parse(video.created) > after);
    return { result: found.slice(0, Number(query.get('limit'))) };
  };
  const env = { EDGEHOST_ACCOUNT_ID: 'a', EDGEHOST_STREAM_API_TOKEN: 't', EDGEHOST_API_URL: origin };
  const list = (pageSize: number) => listIds(openEdgehostSource(env, signal, pageSize));
  expect(await list(3)).toEqual(['v0', 'v1', 'v2', 'v3', 'v4']);
  await expect(list(1)).rejects.toThrow('more than 1 videos of one moment');
});
