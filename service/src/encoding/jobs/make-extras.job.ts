// Job that makes the storyboard, preview, MP4 and M4A file of a video from its own renditions (contract B5).
import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isPurged } from '../../assets/asset.ts';
import type * as lookupOperations from '../../assets/asset-lookup.ts';
import { EXTRA_FILES, type VideoExtra } from '../../assets/video-extras.ts';
import type { JobPayloads } from '../../jobs.ts';
import type { removeUnlessDeferred } from '../../lifecycle/deferred-removals.ts';
import type { AssetStore } from '../../lifecycle/store.ts';
import type { Bound, BoundOperations } from '../../platform/bind.ts';
import { diskFull, freeBytes } from '../../platform/free-space.ts';
import type { JobRun } from '../../platform/jobs/job-queue.ts';
import { createScratchFolder, deleteScratchFolder } from '../../platform/process/scratch-folder.ts';
import { type ObjectKey, renditionKey, renditionsPrefix } from '../../storage/object-key.ts';
import type { ObjectStore } from '../../storage/object-store.ts';
import { readJoined, readText, unlessStored } from '../../storage/whole-objects.ts';
import { EncodeError, type Encoder } from '../encoder.ts';
import { chooseAudio, chooseMp4Video, expectedBytes } from '../extras/mp4-source.ts';
import { planPreview, PREVIEW_LENGTH } from '../extras/preview.ts';
import { decideExtras, stateOfRun } from '../extras/publish-extras.ts';
import { formatStoryboard, planStoryboard, spriteName, tileTimes } from '../extras/storyboard.ts';
import { excerptFfmpegLog } from '../ffmpeg-log.ts';
import {
  getVideoForWidth,
  parseMediaPlaylist,
  parseMultivariantPlaylist,
  type Presentation,
  type SegmentList,
  segmentAtTime,
} from '../packaging/hls-reader.ts';

export type ExtrasNeeds = Pick<BoundOperations<typeof lookupOperations>, 'findAssetById'> & {
  readonly update: AssetStore['update'];
  readonly store: ObjectStore;
  readonly removeUnlessDeferred: Bound<typeof removeUnlessDeferred>;
  readonly encoder: Pick<Encoder, 'createExtra'>;
  readonly scratchRoot: string;
  readonly minFreeBytes: number;
  /** The files to make. */
  readonly extras: readonly VideoExtra[];
  readonly log: { warn(facts: object, message: string): void };
};

export const createExtrasJob =
  (needs: ExtrasNeeds) =>
  async ({ payload, signal }: JobRun<JobPayloads['make-extras']>): Promise<void> => {
    if (needs.extras.length === 0) return;
    const asset = await needs.findAssetById(payload.assetId);
    if (!asset || isPurged(asset) || stateOfRun(asset, payload) === 'superseded') return;
    const extras = await makeExtras(needs, payload, signal).catch(async (error: unknown) => {
      if (await isDeleted(needs, asset.id)) return [];
      throw error;
    });
    const updated = await needs.update({ assetId: asset.id }, (seen) =>
      isPurged(seen) ? undefined : decideExtras(seen, { ...payload, extras }),
    );
    // A purge may have removed the files of the asset before the job stored its own.
    if (!updated || isPurged(updated.asset))
      await needs.removeUnlessDeferred(asset.id, renditionsPrefix(asset.id));
    else if (stateOfRun(updated.asset, payload) === 'awaited')
      throw new Error('the report of the encoder has not arrived yet');
  };

/** A purge removes the files that the job reads. */
async function isDeleted({ findAssetById }: ExtrasNeeds, id: string): Promise<boolean> {
  const asset = await findAssetById(id);
  return !asset || isPurged(asset);
}

/** The renditions of the run. */
type Source = {
  readonly store: ObjectStore;
  readonly keyOf: (file: string) => ObjectKey;
  readonly presentation: Presentation;
  readonly seconds: number;
};

type Work = ExtrasNeeds & Source & { readonly signal: AbortSignal; readonly folder: string };

/** Returns the files that exist in the end. An earlier run of the job may have stored some of them. */
async function makeExtras(
  needs: ExtrasNeeds,
  { assetId, folder }: JobPayloads['make-extras'],
  signal: AbortSignal,
): Promise<VideoExtra[]> {
  const source = await openRenditions(needs.store, (file) => renditionKey(assetId, folder, file));
  const warn = (facts: object) => needs.log.warn({ asset_id: assetId, ...facts }, 'a file cannot be made');
  const made: VideoExtra[] = [];
  for (const extra of needs.extras) {
    signal.throwIfAborted();
    const isStored = (await needs.store.size(source.keyOf(EXTRA_FILES[extra]))) !== undefined;
    if (isStored || (await makeExtra({ ...needs, ...source, signal }, extra, warn))) made.push(extra);
  }
  return made;
}

async function openRenditions(store: ObjectStore, keyOf: Source['keyOf']): Promise<Source> {
  const presentation = parseMultivariantPlaylist(await readText(store, keyOf('hls.m3u8')));
  const { playlist } = getVideoForWidth(presentation, 0);
  const { segments } = parseMediaPlaylist(await readText(store, keyOf(playlist)));
  return { store, keyOf, presentation, seconds: segments.at(-1)?.end ?? 0 };
}

/** The video plays without the file, so that a failure of ffmpeg is only logged. */
async function makeExtra(
  needs: Omit<Work, 'folder'>,
  extra: VideoExtra,
  warn: (facts: object) => void,
): Promise<boolean> {
  const scratch = { work: `extras-${randomUUID()}`, run: '1' };
  const folder = await createScratchFolder(needs.scratchRoot, scratch);
  try {
    return await MAKERS[extra]({ ...needs, folder });
  } catch (error) {
    // Another worker may have ffmpeg.
    if (!(error instanceof EncodeError) || error.code === 'encoder_missing') throw error;
    warn({ extra, code: error.code, ffmpeg_log: excerptFfmpegLog(error.log) });
    return false;
  } finally {
    await deleteScratchFolder(folder);
  }
}

/** Each returns false for a video that has no such file. */
const MAKERS: Readonly<Record<VideoExtra, (work: Work) => Promise<boolean>>> = {
  storyboard: makeStoryboard,
  preview: makePreview,
  audio: makeAudio,
  mp4: makeMp4,
};

/** Stores the WebVTT file last, because its presence stands for the sprites too. */
async function makeStoryboard(work: Work): Promise<boolean> {
  const { encoder, folder, presentation, seconds, signal } = work;
  const video = getVideoForWidth(presentation, 0);
  const plan = planStoryboard({ ...video, seconds });
  const excerpt = await writeExcerpt(work, video.playlist, (list) =>
    tileTimes(plan).map((time) => segmentAtTime(list, time).name),
  );
  const output = join(folder, spriteName('%d'));
  await encoder.createExtra({ kind: 'storyboard', excerpt, plan, output, signal });
  for (let number = 1; number <= plan.sprites; number += 1) await storeFile(work, spriteName(number));
  const text = formatStoryboard({ plan, seconds, folder: presentation.folder });
  await writeFile(join(folder, EXTRA_FILES.storyboard), text);
  return storeFile(work, EXTRA_FILES.storyboard);
}

async function makePreview(work: Work): Promise<boolean> {
  const { encoder, folder, presentation, seconds, signal } = work;
  const { playlist, frameRate } = getVideoForWidth(presentation, PREVIEW_LENGTH);
  const parts = planPreview(seconds);
  const excerpt = await writeExcerpt(work, playlist, ({ segments }) =>
    segments
      .filter(({ start, end }) => parts.some((part) => start < part.end && end > part.start))
      .map(({ name }) => name),
  );
  const output = join(folder, EXTRA_FILES.preview);
  await encoder.createExtra({ kind: 'preview', excerpt, parts, frameRate, output, signal });
  return storeFile(work, EXTRA_FILES.preview);
}

/** Above the bit rate of every audio track. */
const MAX_AUDIO_BYTES_PER_SECOND = 48_000;

async function makeAudio(work: Work): Promise<boolean> {
  const audio = chooseAudio(work.presentation);
  if (!audio) return false;
  await assertSpace(work, work.seconds * MAX_AUDIO_BYTES_PER_SECOND);
  return joinTracks(work, [audio.playlist], EXTRA_FILES.audio);
}

async function makeMp4(work: Work): Promise<boolean> {
  const video = chooseMp4Video(work.presentation, work.seconds);
  if (!video) return false;
  await assertSpace(work, expectedBytes(video, work.seconds));
  const audio = chooseAudio(work.presentation);
  const playlists = [video.playlist, ...(audio ? [audio.playlist] : [])];
  return joinTracks(work, playlists, EXTRA_FILES.mp4);
}

/** The excerpts and the file exist at the same time. Throws UNAVAILABLE, so that the job is retried. */
async function assertSpace({ scratchRoot, minFreeBytes }: Work, fileBytes: number): Promise<void> {
  if ((await freeBytes(scratchRoot)) < 2 * fileBytes + minFreeBytes) throw diskFull('scratch folder');
}

async function joinTracks(work: Work, playlists: readonly string[], name: string): Promise<boolean> {
  const excerpts: string[] = [];
  for (const playlist of playlists) excerpts.push(await writeExcerpt(work, playlist, allSegments));
  const output = join(work.folder, name);
  await work.encoder.createExtra({ kind: 'file', excerpts, output, signal: work.signal });
  return storeFile(work, name);
}

const allSegments = ({ segments }: SegmentList): string[] => segments.map(({ name }) => name);

/** Writes the init segment and the chosen media segments of a track to one file, and returns its path. */
async function writeExcerpt(
  { store, keyOf, folder, signal }: Work,
  playlist: string,
  choose: (list: SegmentList) => readonly string[],
): Promise<string> {
  const path = join(folder, `${playlist}.mp4`);
  const list = parseMediaPlaylist(await readText(store, keyOf(playlist)));
  const names = new Set([list.init, ...choose(list)]);
  await writeFile(path, readJoined(store, [...names].map(keyOf)), { signal });
  return path;
}

async function storeFile({ store, keyOf, folder, signal }: Work, name: string): Promise<true> {
  signal.throwIfAborted();
  await unlessStored(store.putFile(keyOf(name), join(folder, name)));
  return true;
}
