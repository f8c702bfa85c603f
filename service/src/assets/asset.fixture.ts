// A video as its row says it, for tests of rules that take one.
import type { Asset } from './asset.ts';
import { decide } from './change.ts';
import type { StreamReport } from './stream-report.ts';

const CREATED = new Date('2026-01-01T10:00:00.000Z');
export const NOW = new Date('2026-01-01T10:05:00.000Z');

const PENDING: Asset = {
  id: '01900000-0000-7000-8000-000000000001', owner_user_id: 'ann', kind: 'video', filename: 'clip.mp4', content_type: 'video', mime_type: 'video/mp4',
  visibility: 'private', title: null, tags: [], metadata: null, announced_size_bytes: null, announced_sha256: null, size_bytes: null, checksum_sha256: null,
  uploaded_at: null, upload_expires_at: null, upload_writer: null, upload_writer_until: null, provider: 'onprem', provider_video_id: null,
  stream_status: 'pending_upload', attempt: 1, progress: 0, renditions: [], warnings: [], failure: null, refused: false, playback: null, playback_version: 1,
  playable_at: null, completed_at: null, width: null, height: null, duration_ms: null, placeholder: null, encode_try: 0, encoded_try: 0,
  version: 1, revision: 1, created_at: CREATED, updated_at: CREATED, deleted_at: null, purge_at: null,
};

/** An onprem video that waits for its bytes; `more` goes over that. */
export const videoOf = (more: Partial<Asset> = {}): Asset => ({ ...PENDING, ...more });

/** The asset as a report leaves it. */
export const afterReport = (asset: Asset, report: StreamReport, now = NOW): Asset => ({ ...asset, ...decide(asset, report, now).change?.next });

export const afterReports = (asset: Asset, reports: readonly StreamReport[]): Asset =>
  reports.reduce((seen, report) => afterReport(seen, report), asset);
