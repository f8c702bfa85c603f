// Formats that are not allowed by default: where the operator names them, they are checked and encoded
// (contract B1).
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ClipOptions, makeClip } from '../../support/clips/clips.ts';
import { offer, settled } from '../../support/media.ts';
import { CLEAN, decode } from '../../support/clips/picture-and-sound.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const ADDED =
  'video/x-msvideo,video/mpeg,video/x-flv,video/x-ms-wmv,video/x-ms-asf,video/ogg,application/mxf';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ ALLOWED_MIME_TYPES: `default,${ADDED}` });
});
afterAll(() => service.stop());

const fieldsOf = (mime_type: string) => ({ mime_type, visibility: 'public' });

describe('a video plays', () => {
  test.each<[string, ClipOptions]>([
    ['video/x-msvideo', { container: 'avi' }],
    ['video/avi', { container: 'avi', more: ['-c:v', 'libx264', '-bf', '2'] }],
    ['video/mpeg', { container: 'mpg' }],
    ['video/x-flv', { container: 'flv' }],
    ['video/x-ms-wmv', { container: 'wmv' }],
    ['video/ogg', { container: 'ogv' }],
    ['application/mxf', { container: 'mxf', fps: 25 }],
  ])('of the type %s: %j', async (mime, options) => {
    const bytes = await readFile(await makeClip(options));
    const { id, completed } = await offer(service, 'ann', { bytes, fields: fieldsOf(mime) });
    expect(completed.body.data).toMatchObject({ stream_status: 'processing', width: 320, height: 180 });
    const asset = await settled(service, 'ann', id);
    expect(asset).toMatchObject({
      stream_status: 'ready',
      failure: null,
      warnings: [],
      width: 320,
      height: 180,
    });
    expect(Math.abs(Number(asset['duration_ms']) - 2000)).toBeLessThanOrEqual(150);
    const { hls, dash } = asset['playback'] as { hls: string; dash: string };
    expect([await decode(hls), await decode(dash)]).toEqual([CLEAN, CLEAN]);
  });
});

describe('bytes are rejected', () => {
  const reasonOf = async (mime: string, bytes: Uint8Array) => {
    const { completed } = await offer(service, 'ann', { bytes, fields: fieldsOf(mime) });
    return [completed.status, completed.body.error?.details];
  };
  test('of another format', async () => {
    const avi = await readFile(await makeClip({ container: 'avi' }));
    expect(await reasonOf('video/mpeg', avi)).toEqual([400, { reason: 'type_mismatch' }]);
    expect(await reasonOf('video/mp4', avi)).toEqual([400, { reason: 'type_mismatch' }]);
  });
  test('without a video track', async () => {
    const sound = await readFile(await makeClip({ container: 'ogv', more: ['-vn'] }));
    expect(await reasonOf('video/ogg', sound)).toEqual([400, { reason: 'no_video_track' }]);
  });
  test('that only begin like a video', async () => {
    const avi = (await readFile(await makeClip({ container: 'avi' }))).subarray(0, 64);
    expect(await reasonOf('video/x-msvideo', avi)).toEqual([400, { reason: 'not_media' }]);
  });
  test('of a playlist', async () => {
    const playlist = Buffer.from('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n');
    expect(await reasonOf('video/x-ms-asf', playlist)).toEqual([400, { reason: 'playlist' }]);
  });
});
