// A playlist that is uploaded as a video makes the service call no address and read no file (contract B4).
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ffmpegPath } from '../../support/clips/clips.ts';
import { type AssetJson, offer, settled } from '../../support/media.ts';
import { type Form, formsOf, plainPlaylist, type Targets } from '../../support/playback/playlists.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { newDataDir } from '../../support/service/data-folders.ts';
import { filesNaming } from '../../support/service/traces.ts';

const MARK = `sentinel ${randomUUID()}`;
const said: string[] = [];

let service: TestService;
let canary: Server;
let calls = 0;
let folder: string;
let targets: Targets;
let forms: Form[];
beforeAll(async () => {
  folder = await newDataDir();
  canary = createServer((socket) => {
    calls += 1;
    socket
      .on('error', () => {
        /* a caller that hangs up has called all the same */
      })
      .destroy();
  });
  await once(canary.listen(0, '127.0.0.1'), 'listening');
  targets = {
    file: join(folder, 'nobodys.txt'),
    address: `http://127.0.0.1:${(canary.address() as AddressInfo).port}`,
  };
  await writeFile(targets.file, `${MARK}\n`.repeat(100));
  forms = await formsOf(targets);
  service = await startTestService();
});
afterAll(async () => {
  await service?.stop();
  canary?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Uploads the form and waits for its end. */
async function endOf({ what, mime, bytes }: Form): Promise<AssetJson> {
  const { id, completed } = await offer(service, 'ann', {
    bytes,
    fields: { filename: `${what}.mp4`, mime_type: mime },
  });
  const asset = await settled(service, 'ann', id);
  said.push(JSON.stringify([completed.body, asset]));
  if (completed.status !== 200)
    expect([completed.status, completed.body.error.details], what).toEqual([
      400,
      { reason: asset.failure?.code },
    ]);
  return asset;
}

test('25 kinds are rejected, fail, or are encoded as the video that they contain', async () => {
  expect(forms).toHaveLength(25);
  for (const form of forms) {
    const asset = await endOf(form);
    expect([form.what, asset.failure?.code ?? asset.stream_status]).toEqual([form.what, form.end]);
    if (form.end === 'ready') expect(asset['duration_ms'], form.what).toBe(1000);
  }
});

test('no request reached the address', () => {
  expect(calls).toBe(0);
});

test('no response and no stored file contains the secret file', async () => {
  expect(said.join()).not.toContain(MARK);
  expect(said).toHaveLength(forms.length);
  const leaks = [];
  for (const path of await filesNaming(service.dataDir)) {
    const bytes = await readFile(path).catch(() => Buffer.alloc(0)); // A socket, or gone by now.
    if (bytes.includes(MARK)) leaks.push(path);
  }
  expect(leaks).toEqual([]);
});

test('ffmpeg without the protections calls the address', async () => {
  const playlist = join(folder, 'plain.m3u8');
  await writeFile(playlist, plainPlaylist(targets));
  const engine = execFile(ffmpegPath(), [
    '-nostdin',
    '-protocol_whitelist',
    'file,http,tcp',
    '-f',
    'hls',
    '-i',
    playlist,
    '-f',
    'null',
    '-',
  ]);
  await once(engine, 'close');
  expect(calls).toBeGreaterThan(0);
});
