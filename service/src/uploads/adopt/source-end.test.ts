// The source of an adoption stays unless the asset certainly has its bytes.
import { expect, test } from 'vitest';
import type { Asset } from '../../assets/asset.ts';
import { createVideo, NOW } from '../../lifecycle/asset.fixture.ts';
import { decideSourceEnd } from './source-end.ts';

const UPLOAD = '01900000-0000-7000-8000-00000000000a';
const OTHER = '01900000-0000-7000-8000-00000000000b';
const accepted: Asset = {
  ...createVideo(),
  original_upload: UPLOAD,
  uploaded_at: NOW,
  size_bytes: 3,
  stream_status: 'processing',
};

test.each<[string, Partial<Asset>, 'delete' | 'keep' | 'wait']>([
  ['accepted', {}, 'delete'],
  ['ready', { stream_status: 'ready' }, 'delete'],
  ['failed by the encoder, which a retry may repair', { stream_status: 'failed' }, 'delete'],
  ['not checked yet', { stream_status: 'pending_upload' }, 'wait'],
  ['refused by the checks', { stream_status: 'failed', refused: true }, 'keep'],
  ['in the trash', { deleted_at: NOW }, 'keep'],
  ['with the file of a replacement', { original_upload: OTHER }, 'keep'],
])('an asset that is %s', (_, changes, end) => {
  expect(decideSourceEnd({ ...accepted, ...changes }, UPLOAD)).toBe(end);
});

test('an asset that is purged', () => expect(decideSourceEnd(undefined, UPLOAD)).toBe('keep'));
