// Assets as people read them.
import { type AccessRules, type Asset, formatChapters, formatExpectedTimes } from '@mediary/client';
import { type Field, formatBytes, formatDuration, formatFields, formatTable, formatTime } from './text.ts';

export const describeStatus = ({
  stream_status: status,
  progress,
  playable_at: playableAt,
  deleted_at: deletedAt,
}: Asset): string =>
  (status === 'processing' ? `processing ${progress}%` : status) +
  (status === 'processing' && playableAt ? ', playable' : '') +
  (deletedAt ? ' (trash)' : '');

/** The id comes first, so that scripts can cut it out. */
export const formatAssetLine = (asset: Asset): string =>
  formatTable([asset.id, describeStatus(asset), asset.title ?? asset.filename], []);

export const formatAssetTable = (assets: readonly Asset[]): string =>
  formatTable(
    ['ID', 'STATUS', 'KIND', 'SIZE', 'CREATED', 'OWNER', 'NAME'],
    assets.map((asset) => [
      asset.id,
      describeStatus(asset),
      asset.kind,
      asset.size_bytes === null ? null : formatBytes(asset.size_bytes),
      formatTime(asset.created_at),
      asset.owner_user_id,
      asset.title ?? asset.filename,
    ]),
  );

export function formatAsset(asset: Asset): string {
  const { size_bytes: size, duration_ms: duration, failure, width, height } = asset;
  return formatFields([
    ['id', asset.id],
    ['external id', asset.external_id],
    ['title', asset.title],
    ['filename', asset.filename],
    ['status', describeStatus(asset)],
    ['expected', formatExpectedTimes(asset)],
    ['failure', failure && `${failure.code}: ${failure.message}`],
    ['owner', asset.owner_user_id],
    ['visibility', asset.visibility],
    ['access', asset.access && formatAccess(asset.access)],
    ['type', asset.mime_type],
    ['size', size === null ? null : `${formatBytes(size)} (${size} bytes)`],
    ['sha-256', asset.checksum_sha256],
    ['picture', width && height && `${width} × ${height}`],
    ['focal point', asset.focal_point && `${asset.focal_point.x}, ${asset.focal_point.y}`],
    ['photo', asset.media?.photo && formatPhoto(asset.media.photo)],
    ['duration', duration === null ? null : formatDuration(duration)],
    ['chapters', asset.chapters.length === 0 ? null : formatChapters(asset.chapters).replaceAll('\n', ', ')],
    ['provider', asset.provider],
    ['video id', asset.provider_video_id],
    ['renditions', asset.renditions.map((each) => `${each.height}p ${each.state}`).join(', ')],
    ...formatPlayback(asset),
    ['tags', asset.tags.join(', ')],
    ['metadata', asset.metadata && JSON.stringify(asset.metadata)],
    ...asset.warnings.map(({ code, message }) => ['warning', `${code}: ${message}`] as const),
    ['created', formatTime(asset.created_at)],
    ['updated', formatTime(asset.updated_at)],
    ['expires', asset.expires_at && formatTime(asset.expires_at)],
    ['legal hold', asset.legal_hold ? 'yes' : null],
    ['deleted', asset.deleted_at && formatTime(asset.deleted_at)],
  ]);
}

const formatAccess = (access: AccessRules): string =>
  [
    access.referrers && `sites ${access.referrers.join(', ')}${access.allow_no_referrer ? ' or none' : ''}`,
    access.networks && `networks ${access.networks.join(', ')}`,
    access.countries && `countries ${access.countries.join(', ')}`,
    access.downloads === false && 'no downloads',
  ]
    .filter(Boolean)
    .join('; ');

type Photo = NonNullable<NonNullable<Asset['media']>['photo']>;

const formatPhoto = ({ camera, taken_at: takenAt, location }: Photo): string =>
  [camera, takenAt, location && `${location.latitude}, ${location.longitude}`].filter(Boolean).join(' · ');

/** The URLs of a private asset answer 404 without a token. */
const formatPlayback = ({ id, visibility, playback }: Asset): readonly Field[] => {
  if (playback === null) return [];
  if (visibility === 'private') return [['play', `mediary open ${id}`]];
  return [
    ['hls', playback.hls],
    ['dash', playback.dash],
    ['thumbnail', playback.thumbnail],
  ];
};
