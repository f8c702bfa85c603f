// Reads a webhook of edgehost: the video object itself is the message, and only its end counts (contract A6, B6).
import { parseJson } from '../../platform/strict-json.ts';
import { isVideoId, membersOf, NOT_ACTIONABLE } from '../opening.ts';
import type { Reading } from '../provider.ts';
import { endOf } from './edgehost-video.ts';

export function readEdgehost(body: Uint8Array, customerHost: string | undefined): Reading {
  const video = membersOf(parseJson(body));
  const status = membersOf(video?.['status']);
  const uid = video?.['uid'];
  if (!video || !status || !isVideoId(uid)) return NOT_ACTIONABLE;
  const report = endOf(video, status, { source: 'webhook', uid, customerHost });
  return report ? { report, ref: { provider: 'edgehost', providerVideoId: uid } } : NOT_ACTIONABLE;
}
