// Parses edgehost webhooks, which contain the video object; only final states are reported (contract A6, B6).
import { parseJson } from '../../platform/strict-json.ts';
import { isVideoId, toJsonObject, NOT_ACTIONABLE } from '../verify-webhook.ts';
import type { ParsedWebhook } from '../provider.ts';
import { endOf } from './edgehost-video.ts';

export function readEdgehost(body: Uint8Array): ParsedWebhook {
  const video = toJsonObject(parseJson(body));
  const status = toJsonObject(video?.['status']);
  const uid = video?.['uid'];
  if (!video || !status || !isVideoId(uid)) return NOT_ACTIONABLE;
  const report = endOf(video, status, { source: 'webhook', uid });
  return report ? { report, ref: { provider: 'edgehost', providerVideoId: uid } } : NOT_ACTIONABLE;
}
