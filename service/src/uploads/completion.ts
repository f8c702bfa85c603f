// Takes the caller's word that the bytes are there, and checks it: present, as announced, of their type, with a picture (contract B4).
import type { Asset, Failure } from '../assets/asset.ts';
import type { EventData } from '../assets/asset-event.ts';
import type { Completion } from '../lifecycle/decide-commands.ts';
import type { StreamReport } from '../lifecycle/stream-report.ts';
import type { StartJob } from '../jobs.ts';
import { detect, HEAD_BYTES, matches } from '../media/magic-bytes.ts';
import { type MediaType, mediaTypeOf } from '../media/media-type.ts';
import type { ByteSource, MediaFacts, Probe } from '../media/probe.ts';
import { badRequest, conflict, type ServiceError, toReason } from '../platform/errors.ts';
import type { Inspection } from '../providers/provider.ts';
import { originalKey } from '../storage/object-key.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { announcedMismatch, createRefusal, type RefusalCode } from './content-check.ts';

export type CompletionNeeds = {
  readonly store: ObjectStore;
  readonly probe: Probe;
  readonly startJob: (asset: Asset) => StartJob | undefined;
  readonly completeAsset: (asset: Asset, completion: Completion) => Promise<Asset>;
  readonly refuseAsset: (asset: Asset, failure: Failure) => Promise<Asset>;
  readonly isHosted: (asset: Asset) => boolean;
  readonly inspectNow: (asset: Asset) => Promise<Inspection>;
  readonly applyInspection: (asset: Asset, report: StreamReport) => Promise<Asset>;
};

/** Called twice, it answers twice the same. `note` is what the timeline keeps of who called. */
export async function completeUpload(needs: CompletionNeeds, asset: Asset, note: EventData): Promise<Asset> {
  if (asset.stream_status !== 'pending_upload') return answered(asset);
  if (needs.isHosted(asset)) return answered(await completeHosted(needs, asset, note));
  if (!asset.uploaded_at) throw notUploaded('Send them to the upload URL, then call again.');
  const found = await inspect(needs, asset);
  if (typeof found === 'string') return answered(await needs.refuseAsset(asset, createRefusal(found)));
  return answered(
    await needs.completeAsset(asset, { facts: factsOf(found), job: needs.startJob(asset), note }),
  );
}

/** Of a video that the caller linked, its word is enough; of one that was uploaded through us, the provider is asked. */
async function completeHosted(needs: CompletionNeeds, asset: Asset, note: EventData): Promise<Asset> {
  if (asset.upload_expires_at === null)
    return needs.completeAsset(asset, { facts: {}, job: undefined, note });
  if (asset.provider_video_id === null)
    throw conflict('The video host was not reached when this upload was opened: open another one', {
      reason: 'not_linked',
    });
  const found = await needs.inspectNow(asset);
  if (found.state !== 'known') throw notUploaded('Send them to the video provider, then call again.');
  const completed = await needs.completeAsset(asset, { facts: {}, job: undefined, note });
  return found.report.event === 'started' ? completed : needs.applyInspection(completed, found.report);
}

function answered(asset: Asset): Asset {
  if (asset.refused && asset.failure) throw asError(asset.failure);
  return asset;
}

const notUploaded = (action: string): ServiceError =>
  badRequest(`The bytes of this asset have not arrived yet. ${action}`, { reason: 'not_uploaded' });

const asError = ({ code, message }: Failure): ServiceError => badRequest(message, { reason: toReason(code) });

const NOTHING_KNOWN = { width: null, height: null, durationMs: null } as const;
type Found = Pick<MediaFacts, 'width' | 'height' | 'durationMs'>;

/** What the bytes are, or why they are refused. */
async function inspect({ store, probe }: CompletionNeeds, asset: Asset): Promise<Found | RefusalCode> {
  const mismatch = announcedMismatch(asset);
  if (mismatch) return mismatch;
  const media = mediaTypeOf(asset.mime_type) as MediaType;
  const source = sourceOf(store, asset);
  const detected = detect(await source.read(0, Math.min(source.sizeBytes, HEAD_BYTES)));
  const verdict = matches(media, detected);
  if (verdict !== 'ok') return verdict;
  if (media.kind === 'image') return NOTHING_KNOWN;
  const probed = await probe.probe(source, media.container, asset.owner_user_id);
  return 'refused' in probed ? probed.refused : probed.facts;
}

function sourceOf(store: ObjectStore, asset: Asset): ByteSource {
  const key = originalKey(asset);
  return {
    sizeBytes: asset.size_bytes ?? 0,
    read: async (start, end) => {
      if (end <= start) return new Uint8Array();
      return Buffer.concat(await store.stream(key, { start, end: end - 1 }).toArray());
    },
  };
}

const factsOf = ({ width, height, durationMs }: Found): Completion['facts'] => ({
  width,
  height,
  duration_ms: durationMs,
});
