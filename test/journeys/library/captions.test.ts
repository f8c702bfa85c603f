// Captions of a video: uploaded as WebVTT or SubRip, or found in the file; named by its manifests.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assetPrefixes } from '../../../service/src/storage/object-key.ts';
import { makeClip } from '../../support/clips/clips.ts';
import { expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { type AssetJson, IMAGE, ingest, openUpload } from '../../support/media.ts';
import { type PlaybackJson, playedCaptions, readText } from '../../support/playback/played-captions.ts';
import { addSubtitles } from '../../support/clips/remux.ts';
import { checkServed } from '../../support/playback/served-manifests.ts';
import {
  type Answer,
  asService,
  asUser,
  call,
  eventually,
  startTestService,
  type TestService,
} from '../../support/service.ts';

type CaptionJson = Record<string, unknown> & { language: string; label: string; source: string };
const CUE = '00:00.500 --> 00:01.500\n<b>Hello</b><script>x</script>\n';
const VTT = `WEBVTT\n\nSTYLE\n::cue { background: url(//x.example) }\n\n${CUE}`;
const SRT = '1\n00:00:00,500 --> 00:00:01,500\nHallo <font color="red">Welt</font>\n';
const HEAD = 'WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:0,LOCAL:00:00:00.000\n\n00:00:00.500 --> 00:00:01.500';

let service: TestService;
let plain: AssetJson;
let subtitled: AssetJson;
beforeAll(async () => {
  service = await startTestService();
  const clip = await makeClip({ seconds: 2 });
  const withSubtitles = await addSubtitles(clip, service.dataDir, 'Hi from <i>the file</i>');
  [plain, subtitled] = await Promise.all([
    ingest(service, 'ann', { file: clip }),
    ingest(service, 'ann', {
      file: withSubtitles,
      fields: { mime_type: 'video/x-matroska', visibility: 'public' },
    }),
  ]);
});
afterAll(() => service.stop());

type Put = {
  readonly headers?: Record<string, string>;
  readonly type?: string;
  readonly body?: string | Buffer;
};

const put = (
  { id }: Pick<AssetJson, 'id'>,
  language: string,
  { headers = asUser('ann'), type = 'text/vtt', body = VTT }: Put = {},
): Promise<Answer<CaptionJson>> =>
  call<CaptionJson>(service, `PUT /media/${id}/captions/${language}`, {
    headers: { ...headers, 'content-type': type },
    body,
  });

const listOf = async ({ id }: AssetJson): Promise<CaptionJson[]> => {
  const answer = await call<{ items: CaptionJson[] }>(service, `GET /media/${id}/captions`, {
    headers: asUser('ann'),
  });
  return expectSuccess(answer)['items'] as CaptionJson[];
};
const playbackOf = async ({ id }: AssetJson): Promise<PlaybackJson> =>
  (await call<PlaybackJson>(service, `GET /media/${id}/playback`, { headers: asUser('ann') })).body.data;
const remove = ({ id }: AssetJson, language: string) =>
  call(service, `DELETE /media/${id}/captions/${language}`, { headers: asUser('ann') });

describe('captions of a private video', () => {
  test('are stored as harmless WebVTT, and returned', async () => {
    const stored = expectSuccess(await put(plain, 'EN-us?label=English&default=true'));
    expect(stored).toMatchObject({
      language: 'en-US',
      label: 'English',
      kind: 'subtitles',
      default: true,
      source: 'caller',
    });
    expect(await listOf(plain)).toEqual([stored]);
    const response = await fetch(`${service.url}/media/${plain.id}/captions/en-us`, {
      headers: asUser('ann'),
    });
    expect(await response.text()).toBe(`${HEAD}\n<b>Hello</b>x\n`);
    expect(response.headers.get('content-type')).toBe('text/vtt; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  test('may be SubRip, and get the name of their language', async () => {
    expect(
      expectSuccess(await put(plain, 'ger?kind=captions', { type: 'application/x-subrip', body: SRT })),
    ).toMatchObject({
      language: 'de',
      label: 'Deutsch',
      kind: 'captions',
      default: false,
    });
  });

  test('play through both manifests with the token of their path, and not without', async () => {
    const playback = await playbackOf(plain);
    const texts = { 'en-US': `${HEAD}\n<b>Hello</b>x\n`, de: `${HEAD}\nHallo Welt\n` };
    expect(await playedCaptions(playback)).toEqual({ inHls: texts, inDash: texts });
    expect(await checkServed(playback)).toEqual({ violations: [], captions: 2 });
    for (const { url } of playback.captions) {
      expect(await readText(url)).toMatch(/^WEBVTT/);
      expect((await fetch(url.replace(/\/~[^/]+/, ''))).status).toBe(404);
    }
    const versioned = await fetch(playback.captions[0]?.url ?? '', { method: 'HEAD' });
    expect(versioned.headers.get('cache-control')).toContain('immutable');
    expect(versioned.headers.get('content-type')).toBe('text/vtt; charset=utf-8');
    expect((await fetch(playback.hls, { method: 'HEAD' })).status).toBe(200);
  });

  test('change the ETag of manifests and asset, and tell subscribers', async () => {
    const { hls } = await playbackOf(plain);
    const readEtags = async () => {
      const asset = await call(service, `GET /media/${plain.id}`, { headers: asUser('ann') });
      return [asset.headers.get('etag'), (await fetch(hls)).headers.get('etag')];
    };
    const before = await readEtags();
    expectSuccess(await put(plain, 'de?kind=captions', { body: VTT.replace('Hello', 'Moin') }));
    const after = await readEtags();
    expect(after.filter((etag, index) => etag === before[index])).toEqual([before[1]]);
    expect((await fetch(hls, { headers: { 'if-none-match': after[1] ?? '' } })).status).toBe(304);
    expect((await playedCaptions(await playbackOf(plain))).inHls['de']).toContain('Moin');
    const timeline = await call<{ items: { sentence: string }[] }>(
      service,
      `GET /media/${plain.id}/timeline`,
      {
        headers: asUser('ann'),
      },
    );
    expect(timeline.body.data.items.at(-1)?.sentence).toBe('The caller changed captions.');
  });

  test('one language is the default one', async () => {
    expectSuccess(await put(plain, 'fr?default=true'));
    expect((await listOf(plain)).map((caption) => [caption.language, caption['default']])).toEqual([
      ['en-US', false],
      ['de', false],
      ['fr', true],
    ]);
  });

  test('can be deleted', async () => {
    expect(expectSuccess(await remove(plain, 'FR'))).toEqual({ language: 'fr', deleted: true });
    expectRefusal(await remove(plain, 'fr'), 404);
    expectSuccess(await remove(plain, 'de'));
    expectSuccess(await remove(plain, 'en-US'));
    const playback = await playbackOf(plain);
    expect(playback.captions).toEqual([]);
    expect(await readText(playback.hls)).not.toContain('SUBTITLES');
  });
});

describe('subtitles in the file', () => {
  test('become captions, and cause no warning', async () => {
    expect(subtitled).toMatchObject({ stream_status: 'ready', warnings: [] });
    expect(await listOf(subtitled)).toMatchObject([
      { language: 'de', label: 'Deutsch', source: 'embedded', default: false },
      { language: 'en', label: 'Signs', source: 'embedded', default: false },
    ]);
    const playback = await playbackOf(subtitled);
    expect(await checkServed(playback)).toEqual({ violations: [], captions: 2 });
    const { inHls, inDash } = await playedCaptions(playback);
    const text = /\n00:00:00\.5\d\d --> 00:00:01\.5\d\d\nHi from <i>the file<\/i>\n$/;
    expect(inHls).toEqual({ de: expect.stringMatching(text), en: expect.stringMatching(text) });
    expect(inDash).toEqual(inHls);
  });

  test('are replaced by those of a caller', async () => {
    expectSuccess(await put(subtitled, 'de', { type: 'text/plain', body: SRT }));
    expect(await listOf(subtitled)).toMatchObject([
      { language: 'de', source: 'caller' },
      { language: 'en', source: 'embedded' },
    ]);
  });
});

describe('refusals', () => {
  test.each([
    ['a page', { body: '<html><script>alert(1)</script></html>', type: 'text/plain' }, 1],
    ['a cue that ends before it starts', { body: 'WEBVTT\n\n00:02.000 --> 00:01.000\na' }, 3],
    ['SubRip as text/vtt', { body: SRT }, 1],
    ['nothing', { body: '' }, 1],
  ])('%s is 400 with the line', async (_what, upload, line) => {
    expect(expectRefusal(await put(plain, 'en', upload), 400).details).toMatchObject({
      reason: 'invalid_captions',
      field: 'body',
      line,
    });
  });

  test('what is no text, no language, no label or no captions by its type is 400', async () => {
    const latin = Buffer.from('WEBVTT\n\n00:01.000 --> 00:02.000\ncaf\u00e9', 'latin1');
    expect(expectRefusal(await put(plain, 'en', { body: latin }), 400).details).toMatchObject({
      reason: 'invalid_captions',
    });
    expect(expectRefusal(await put(plain, 'not_a_tag'), 400).details).toMatchObject({ field: 'lang' });
    expect(expectRefusal(await put(plain, 'en?label=a%0Ab'), 400).details).toMatchObject({ field: 'label' });
    expect(expectRefusal(await put(plain, 'en?kind=karaoke'), 400).details).toMatchObject({ field: 'kind' });
    expect(expectRefusal(await put(plain, 'en', { type: 'text/html' }), 400).details).toMatchObject({
      field: 'Content-Type',
    });
  });

  test('more than 1 MiB is 413', async () => {
    expectRefusal(await put(plain, 'en', { body: VTT + ' '.repeat(1024 * 1024) }), 413);
  });

  test('images and hosted videos are 409', async () => {
    const image = await openUpload(service, 'ann', IMAGE);
    const linked = { provider: 'cdnhost', provider_video_id: 'v', owner_user_id: 'ann' };
    const hosted = await call<{ asset_id: string }>(service, 'POST /media/upload-url?expand=asset', {
      headers: asService,
      json: { filename: 'a.mp4', content_type: 'video', mime_type: 'video/mp4', ...linked },
    });
    for (const id of [image.asset_id, hosted.body.data.asset_id])
      expect(expectRefusal(await put({ id }, 'en'), 409).details).toEqual({ reason: 'not_encoded_here' });
  });

  test('another user is 403, a service without an owner 400, nobody 401', async () => {
    expectRefusal(await put(plain, 'en', { headers: asUser('bob') }), 403);
    expect(expectRefusal(await put(plain, 'en', { headers: asService }), 400).details).toMatchObject({
      field: 'owner_user_id',
    });
    expectRefusal(await put(plain, 'en', { headers: {} }), 401);
    expectSuccess(await put(plain, 'it?owner_user_id=ann', { headers: asService }));
    expectSuccess(await remove(plain, 'it'));
  });
});

test('captions may come before the video, and go with it', async () => {
  const { asset } = await openUpload(service, 'ann');
  expectSuccess(await put(asset, 'en'));
  expect((await playbackOf(asset)).captions).toEqual([]);
  const keys = async () => {
    const found: string[] = [];
    for (const prefix of assetPrefixes(asset.id))
      for await (const key of service.adapters.store.list(prefix)) found.push(key);
    return found;
  };
  expectSuccess(await put(asset, 'en'));
  expect(await keys()).toHaveLength(1);
  expectSuccess(await call(service, `DELETE /media/${asset.id}`, { headers: asUser('ann') }));
  expectRefusal(await put(asset, 'en'), 404);
  await eventually(keys, (left) => left.length === 0);
});
