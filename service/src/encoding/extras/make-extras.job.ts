// Job that makes the storyboard, preview, MP4 and M4A file of a video from its own renditions (contract B5).
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isPurged } from '../../assets/asset.ts';
import { EXTRA_FILES, selectExtras, type VideoExtra } from '../../assets/video-extras.ts';
import type { JobPayloads } from '../../jobs.ts';
import { diskFull, freeBytes, isScratchFull } from '../../platform/disk/free-space.ts';
import { runClaimedJob } from '../../platform/jobs/claimed-job.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import { inScratchFolder } from '../../platform/process/scratch-folder.ts';
import { type ObjectKey, renditionKey, renditionsPrefix } from '../../storage/object-key.ts';
import { readJoined, unlessStored } from '../../storage/whole-objects.ts';
import type { EncodingContext } from '../context.ts';
import { EncodeError } from '../encoder.ts';
import { type CmafTrack, initName, isVideo, trackSeconds } from '../model/cmaf-track.ts';
import { planPreview, PREVIEW_LENGTH } from '../model/preview.ts';
import { formatStoryboard, spriteName, storyboardOf, tileTimes } from '../model/storyboard.ts';
import { getVideoForWidth, segmentAtTime, timedSegments } from '../model/track-choice.ts';
import { listedTracks } from '../packaging/run-index.ts';
import { perSecondOf } from '../plan/source/frame-rate.ts';
import { excerptFfmpegLog } from '../ffmpeg-log.ts';
import { getIndex } from '../stored-index.ts';
import { chooseAudio, chooseMp4Tracks, expectedBytes } from './mp4-source.ts';
import { decideExtras, stateOfRun } from './publish-extras.ts';

type RunRef = JobPayloads['make-extras'];

export const createExtrasJob =
  (ctx: EncodingContext) =>
  async ({ payload, signal }: JobRun<RunRef>): Promise<void> => {
    if (ctx.settings.videoExtras.length === 0) return;
    const asset = await ctx.lifecycle.findAssetById(payload.assetId);
    if (!asset || isPurged(asset) || stateOfRun(asset, payload) === 'superseded') return;
    const { id } = asset;
    await runClaimedJob({
      signal,
      // A purge removes the files that the job reads.
      isCurrent: async () => {
        const now = await ctx.lifecycle.findAssetById(id);
        return now !== undefined && !isPurged(now);
      },
      onCheckError: (error) =>
        ctx.log.warn({ asset_id: id, err: error }, 'the worker cannot check whether the video still exists'),
      work: async (run) => {
        const { made, failure } = await makeExtras(ctx, payload, run.signal);
        // A later run of the job decides where the disk was too full for all.
        if (made.length > 0 || !failure) await showExtras(ctx, payload, made);
        if (failure) throw failure;
      },
      discard: () => ctx.lifecycle.removeUnlessDeferred(id, renditionsPrefix(id)),
      fail: async () => {},
    });
  };

/** A purge may have removed the files of the asset before the job stored its own. */
async function showExtras(ctx: EncodingContext, run: RunRef, extras: VideoExtra[]): Promise<void> {
  const { assetId } = run;
  const updated = await ctx.lifecycle.update({ assetId }, (seen) =>
    isPurged(seen) ? undefined : decideExtras(seen, { ...run, extras }),
  );
  if (!updated || isPurged(updated.asset))
    await ctx.lifecycle.removeUnlessDeferred(assetId, renditionsPrefix(assetId));
  else if (stateOfRun(updated.asset, run) === 'awaited')
    throw new Error('the report of the encoder has not arrived yet');
}

/** The renditions of the run. */
type Renditions = {
  /** The folder of the run. */
  readonly run: string;
  readonly keyOf: (file: string) => ObjectKey;
  readonly tracks: readonly CmafTrack[];
  readonly frameRate: number;
  readonly seconds: number;
};

type ExtraSource = Renditions & { readonly signal: AbortSignal; readonly folder: string };

type MadeExtras = {
  /** All stored files, also those of earlier runs of the job. */
  readonly made: VideoExtra[];
  /** The scratch disk is too full for the others, so that the job is retried. */
  readonly failure?: unknown;
};

async function makeExtras(
  ctx: EncodingContext,
  { assetId, folder }: JobPayloads['make-extras'],
  signal: AbortSignal,
): Promise<MadeExtras> {
  const renditions = await openRenditions(ctx, { assetId, folder });
  const made: VideoExtra[] = [];
  let failure: MadeExtras['failure'];
  const kind = renditions.tracks.some(isVideo) ? 'video' : 'audio';
  for (const extra of selectExtras(ctx.settings.videoExtras, kind)) {
    signal.throwIfAborted();
    const isStored = (await ctx.store.size(renditions.keyOf(EXTRA_FILES[extra]))) !== undefined;
    try {
      if (isStored || (await makeExtra(ctx, extra, { ...renditions, assetId, signal }))) made.push(extra);
    } catch (error) {
      if (!isScratchFull(error)) throw error;
      failure = error;
    }
  }
  return { made, failure };
}

async function openRenditions(ctx: EncodingContext, run: RunRef): Promise<Renditions> {
  const index = await getIndex(ctx, run);
  const tracks = listedTracks(index);
  return {
    run: run.folder,
    keyOf: (file) => renditionKey(run.assetId, run.folder, file),
    tracks,
    frameRate: perSecondOf(index.frameRate),
    seconds: trackSeconds(tracks.some(isVideo) ? getVideoForWidth(tracks, 0) : (tracks[0] as CmafTrack)),
  };
}

/** The video plays without the file, so that a failure of ffmpeg is only logged. */
async function makeExtra(
  ctx: EncodingContext,
  extra: VideoExtra,
  { assetId, ...source }: Omit<ExtraSource, 'folder'> & { readonly assetId: string },
): Promise<boolean> {
  const scratch = { work: `extras-${randomUUID()}`, run: '1' };
  try {
    return await inScratchFolder(ctx.worker.scratchRoot, scratch, (folder) =>
      MAKERS[extra](ctx, { ...source, folder }),
    );
  } catch (error) {
    // Another worker may have ffmpeg.
    if (!(error instanceof EncodeError) || error.code === 'encoder_missing') throw error;
    ctx.log.warn(
      { asset_id: assetId, extra, code: error.code, ffmpeg_log: excerptFfmpegLog(error.log) },
      'cannot create the extra file',
    );
    return false;
  }
}

type Maker = (ctx: EncodingContext, source: ExtraSource) => Promise<boolean>;

/** Each returns false for a video that has no such file. */
const MAKERS: Readonly<Record<VideoExtra, Maker>> = {
  storyboard: makeStoryboard,
  preview: makePreview,
  audio: makeAudio,
  mp4: makeMp4,
};

/** Stores the WebVTT file last, because its presence stands for the sprites too. */
async function makeStoryboard(ctx: EncodingContext, source: ExtraSource): Promise<boolean> {
  const { folder, tracks, seconds, signal } = source;
  const track = getVideoForWidth(tracks, 0);
  const plan = storyboardOf(tracks);
  const names = tileTimes(plan).map((time) => segmentAtTime(track, time).name);
  const excerpt = await writeExcerpt(ctx, source, { track, names });
  const output = join(folder, spriteName('%d'));
  await ctx.encoder.createExtra({ kind: 'storyboard', excerpt, plan, output, signal });
  for (let number = 1; number <= plan.sprites; number += 1) await storeFile(ctx, source, spriteName(number));
  const text = formatStoryboard({ plan, seconds, folder: source.run });
  await writeFile(join(folder, EXTRA_FILES.storyboard), text);
  return storeFile(ctx, source, EXTRA_FILES.storyboard);
}

async function makePreview(ctx: EncodingContext, source: ExtraSource): Promise<boolean> {
  const { folder, tracks, frameRate, seconds, signal } = source;
  const track = getVideoForWidth(tracks, PREVIEW_LENGTH);
  const parts = planPreview(seconds);
  const names = timedSegments(track)
    .filter(({ startSeconds, endSeconds }) =>
      parts.some(({ start, end }) => startSeconds < end && endSeconds > start),
    )
    .map(({ name }) => name);
  const excerpt = await writeExcerpt(ctx, source, { track, names });
  const output = join(folder, EXTRA_FILES.preview);
  await ctx.encoder.createExtra({ kind: 'preview', excerpt, parts, frameRate, output, signal });
  return storeFile(ctx, source, EXTRA_FILES.preview);
}

/** Above the bit rate of every audio track. */
const MAX_AUDIO_BYTES_PER_SECOND = 48_000;

async function makeAudio(ctx: EncodingContext, source: ExtraSource): Promise<boolean> {
  const audio = chooseAudio(source.tracks);
  if (!audio) return false;
  await assertSpace(ctx, source.seconds * MAX_AUDIO_BYTES_PER_SECOND);
  return joinTracks(ctx, source, { tracks: [audio], name: EXTRA_FILES.audio });
}

async function makeMp4(ctx: EncodingContext, source: ExtraSource): Promise<boolean> {
  const tracks = chooseMp4Tracks(source.tracks, source.seconds);
  if (tracks.length === 0) return false;
  await assertSpace(ctx, expectedBytes(tracks, source.seconds));
  return joinTracks(ctx, source, { tracks, name: EXTRA_FILES.mp4 });
}

/** The excerpts and the file exist at the same time. Throws UNAVAILABLE, so that the job is retried. */
async function assertSpace({ worker, settings }: EncodingContext, fileBytes: number): Promise<void> {
  if ((await freeBytes(worker.scratchRoot)) < 2 * fileBytes + settings.minFreeBytes)
    throw diskFull('scratch folder');
}

type JoinedFile = { readonly tracks: readonly CmafTrack[]; readonly name: string };

async function joinTracks(
  ctx: EncodingContext,
  source: ExtraSource,
  { tracks, name }: JoinedFile,
): Promise<boolean> {
  const excerpts: string[] = [];
  for (const track of tracks) {
    const names = track.segments.map((segment) => segment.name);
    excerpts.push(await writeExcerpt(ctx, source, { track, names }));
  }
  const output = join(source.folder, name);
  await ctx.encoder.createExtra({ kind: 'file', excerpts, output, signal: source.signal });
  return storeFile(ctx, source, name);
}

/** `names`: of the media segments, in their order. */
type Excerpt = { readonly track: CmafTrack; readonly names: readonly string[] };

/** Writes the init segment and the media segments of a track to one file, and returns its path. */
async function writeExcerpt(
  { store }: EncodingContext,
  { keyOf, folder, signal }: ExtraSource,
  { track, names }: Excerpt,
): Promise<string> {
  const path = join(folder, `r${track.id}.mp4`);
  const files = new Set([initName(track.id), ...names]);
  await writeFile(path, readJoined(store, [...files].map(keyOf)), { signal });
  return path;
}

async function storeFile(
  { store }: EncodingContext,
  { keyOf, folder, signal }: ExtraSource,
  name: string,
): Promise<true> {
  signal.throwIfAborted();
  await unlessStored(store.putFile(keyOf(name), join(folder, name)));
  return true;
}
