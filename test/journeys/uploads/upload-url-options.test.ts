// The optional fields of upload-url (contract B1, B4).
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { expectFieldRefused, expectRefusal, expectSuccess } from '../../support/http/envelope.ts';
import { type Started, VIDEO } from '../../support/media.ts';
import { type Answer, asUser, call, startTestService, type TestService } from '../../support/service.ts';

let service: TestService;
beforeAll(async () => {
  service = await startTestService({ MAX_UPLOAD_BYTES: '1000000' });
});
afterAll(() => service.stop());

const ask = (json: object, headers: Record<string, string> = asUser('ann')) =>
  call<Started>(service, 'POST /media/upload-url?expand=asset', { headers, json });
const askFor = (fields: object) => ask({ ...VIDEO, ...fields });

const expectTaken = async (asked: Promise<Answer<Started>>): Promise<Started> =>
  expectSuccess<Started>(await asked);

describe('the optional fields', () => {
  test('size_bytes must be a whole number up to the maximum', async () => {
    expect((await expectTaken(askFor({ size_bytes: 1_000_000 }))).upload?.max_bytes).toBe(1_000_000);
    expect((await expectTaken(askFor({ size_bytes: 1 }))).upload?.max_bytes).toBe(1);
    for (const size_bytes of [0, -1, 1.5, '12', 1e300, null, true])
      expectFieldRefused(await askFor({ size_bytes }), 'size_bytes');
    const refused = expectRefusal(await askFor({ size_bytes: 1_000_001 }), 413);
    expect(refused).toMatchObject({
      error_code: 'PAYLOAD_TOO_LARGE',
      details: { field: 'size_bytes', reason: 'size_above_limit', limit: 1_000_000 },
    });
  });

  test('checksum_sha256 must be 64 hex digits in either case', async () => {
    for (const checksum_sha256 of ['a1'.repeat(32), 'A1'.repeat(32)])
      await expectTaken(askFor({ checksum_sha256 }));
    for (const checksum_sha256 of [
      '',
      'a'.repeat(63),
      'a'.repeat(65),
      'g'.repeat(64),
      `0x${'a'.repeat(62)}`,
      `${'a'.repeat(64)}\n`,
      1,
      null,
    ]) {
      expectFieldRefused(await askFor({ checksum_sha256 }), 'checksum_sha256');
    }
  });

  test('visibility is private by default', async () => {
    expect((await expectTaken(askFor({}))).asset['visibility']).toBe('private');
    expect((await expectTaken(askFor({ visibility: 'public' }))).asset['visibility']).toBe('public');
    for (const visibility of ['PUBLIC', 'unlisted', '', true, null])
      expectFieldRefused(await askFor({ visibility }), 'visibility');
  });

  test('an unconfigured or unknown provider is rejected', async () => {
    for (const provider of ['cdnhost', 'edgehost', 'elsewhere', '', null, 1])
      expectFieldRefused(await askFor({ provider }), 'provider');
    expect((await expectTaken(askFor({ provider: 'onprem' }))).asset['provider']).toBe('onprem');
  });

  test('title and tags have maximum lengths', async () => {
    const longest = { title: '🎬'.repeat(500), tags: ['a', 'ä', '🎬'.repeat(100)] };
    expect((await expectTaken(askFor(longest))).asset).toMatchObject(longest);
    expect((await expectTaken(askFor({ title: null, tags: [] }))).asset).toMatchObject({
      title: null,
      tags: [],
    });
    for (const title of ['x'.repeat(501), 7, 'a\u0000', 'a\ud800'])
      expectFieldRefused(await askFor({ title }), 'title');
    for (const tags of [
      'a',
      [''],
      [7],
      ['x'.repeat(101)],
      Array.from({ length: 51 }, String),
      ['a\u0000'],
      ['\udfff'],
    ]) {
      expect(expectRefusal(await askFor({ tags }), 400).details?.['field']).toMatch(/^tags(\.\d+)?$/);
    }
  });

  test('metadata is any JSON object up to 16 KiB, and is returned unchanged', async () => {
    const metadata = {
      Ünï: ['🎬', null, -1.5e-7, true, { '': {} }],
      path: 'C:\\udacity\\u0000',
      long: 'x'.repeat(16_000),
    };
    expect((await expectTaken(askFor({ metadata }))).asset['metadata']).toEqual(metadata);
    expect((await expectTaken(askFor({ metadata: null }))).asset['metadata']).toBeNull();
    for (const refused of [
      { a: 'x'.repeat(16_384) },
      { a: 'ä'.repeat(8192) },
      { a: '\u0000' },
      { 'a\u0000': 1 },
      { a: '\ud800' },
      [],
      'text',
      7,
    ]) {
      expectFieldRefused(await askFor({ metadata: refused }), 'metadata');
    }
  });

  test('other fields are ignored', async () => {
    const { asset } = await expectTaken(
      askFor({
        id: '0199aaaa-0000-7000-8000-000000000000',
        owner_user_id: 'eve',
        kind: 'image',
        stream_status: 'ready',
        playback: { hls: 'https://eve.test/' },
        version: 9,
        uploaded_at: '2020-01-01T00:00:00Z',
        nonsense: [{}],
      }),
    );
    expect(asset).toMatchObject({
      owner_user_id: 'ann',
      kind: 'video',
      stream_status: 'pending_upload',
      playback: null,
      version: 1,
      uploaded_at: null,
    });
    expect(asset.id).not.toMatch(/^0199aaaa/);
  });
});
