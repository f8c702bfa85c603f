// The SDK uploads straight to hosted video providers, in every protocol that they take.
import { randomBytes } from 'node:crypto';
import { createMediary, type Mediary, type UploadProgress } from '@mediary/client';
import { signAccessToken } from '@mediary/client/server';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { type HostedName, type Hosts, startHosts } from '../../support/providers/hosted.ts';
import { SECRETS } from '../../support/service.ts';

const MIB = 1024 * 1024;
let hosts: Hosts;
let ann: Mediary;
beforeAll(async () => {
  hosts = await startHosts();
  const token = () => signAccessToken({ secret: SECRETS.ACCESS_TOKEN_SECRET, userId: 'ann' });
  ann = createMediary({ baseUrl: hosts.service.address, token });
});
afterAll(() => hosts?.stop());
afterEach(() => hosts.sims.reset());

/** Requests of clients, which carry bytes, by the name of their route. */
const sendsTo = (provider: HostedName): string[] =>
  hosts.sims[provider]
    .requests()
    .map(({ route }) => route)
    .filter((route) => route === 'form' || route.startsWith('tus-'));

test.each([
  { provider: 'cdnhost', protocol: 'tus', sends: ['tus-create', 'tus-patch'] },
  { provider: 'edgehost', protocol: 'form', sends: ['form'] },
] as const)('a video is sent to $provider by $protocol and becomes ready', async (target) => {
  const { provider, sends } = target;
  const file = new File([randomBytes(MIB)], 'clip.mp4');
  const seen: UploadProgress[] = [];
  const { id } = await ann.media.upload(file, {
    provider,
    resume: false,
    onProgress: (progress) => seen.push(progress),
  });
  expect(sendsTo(provider)).toEqual(sends);
  expect(seen.at(-1)).toMatchObject({ phase: 'completing', bytesSent: MIB, totalBytes: MIB });
  expect(await ann.media.waitUntilReady(id)).toMatchObject({ id, provider });
  expect((await ann.media.playback(id)).hls).toContain(hosts.sims[provider].url);
});

test.each([
  { provider: 'cdnhost', mib: 24 },
  // Smaller files go to it as forms, which cannot be resumed.
  { provider: 'edgehost', mib: 192 },
] as const)(
  'an upload to $provider that was aborted continues with the next call',
  async ({ provider, mib }) => {
    const film = new File(Array(mib).fill(randomBytes(MIB)), 'film.mp4', { lastModified: 7 });
    const controller = new AbortController();
    const onProgress = ({ bytesSent }: UploadProgress) => {
      if (bytesSent > film.size / 2) controller.abort(new Error('paused'));
    };
    const aborted = ann.media.upload(film, { provider, signal: controller.signal, onProgress });
    await expect(aborted).rejects.toThrow('paused');
    const { items } = await ann.media.list({ provider, limit: 1 }).page();
    const sent: number[] = [];
    const { id } = await ann.media.upload(film, {
      provider,
      onProgress: ({ bytesSent }) => sent.push(bytesSent),
    });
    expect(items).toMatchObject([{ id, stream_status: 'pending_upload' }]);
    expect(
      sent.find((bytes) => bytes > 0),
      'what had arrived is not sent again',
    ).toBeGreaterThan(MIB);
    expect(await ann.media.waitUntilReady(id)).toMatchObject({ stream_status: 'ready' });
  },
);
