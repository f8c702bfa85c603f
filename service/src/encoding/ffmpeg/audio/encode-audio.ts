// Encodes an audio file: one rendition in stereo AAC, its waveform, and a thumbnail.
import { createReadStream } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { THUMBNAIL, WAVEFORM } from '../../../storage/object-key.ts';
import { EncodeError, type EncodedFile, type Encoding } from '../../encoder.ts';
import { filesOf } from '../publish-tracks.ts';
import { chaptersOf } from '../examine-source.ts';
import { fileOf, joinShortEnd, openSegmentCollector, writeText } from '../ffmpeg-output.ts';
import {
  createEncodeFailure,
  parseOutTime,
  runStep,
  runStepOrFail,
  type Session,
} from '../ffmpeg-session.ts';
import { readAudioFacts } from '../measured-audio.ts';
import { createPlaceholder } from '../placeholder.ts';
import { type CmafTrack, describeAudio, trackSeconds } from '../../model/cmaf-track.ts';
import type { Size } from '../../model/source.ts';
import { formatIndex, INDEX_NAME } from '../../packaging/run-index.ts';
import type { Normalization } from '../../plan/arguments/normalization.ts';
import { maxOutputBytes } from '../../plan/arguments/encode-plan.ts';
import { assertDuration, soundCost, timeLimitMs } from '../../plan/ladder/encode-cost.ts';
import { countDecodeErrors } from '../../plan/source/decode-errors.ts';
import { AUDIO_FILE_DECODERS } from '../../plan/source/decoders.ts';
import { damageWarnings } from '../../plan/source/source-damage.ts';
import { isTruncationLog } from '../../plan/source/stream-choice.ts';
import {
  audioArguments,
  coverArguments,
  LEVELS_FILE,
  pictureArguments,
} from '../../plan/arguments/audio-arguments.ts';
import { type ExaminedAudio, examineAudio } from './examine-audio.ts';
import { planNormalization } from './normalize-audio.ts';
import {
  drawWaveform,
  formatWaveform,
  partSamplesFor,
  PICTURE,
  readWaveform,
  type Waveform,
} from '../../model/waveform.ts';

const TRACK_ID = 0;

export async function encodeAudio(session: Session): Promise<Encoding> {
  const { request } = session;
  const source = await examineAudio(session);
  const folder = join(request.workFolder, 'sound');
  await mkdir(folder);
  const normalization = await planNormalization(session, {
    audio: [source.track],
    seconds: encodedSeconds(session, source),
    decoders: AUDIO_FILE_DECODERS,
  });
  const { track, waveform, lostPackets } = await render(session, { source, normalization, folder });
  const durationSeconds = source.durationSeconds ?? trackSeconds(track);
  assertDuration({ durationSeconds }, session.limits);
  const thumbnail = await createThumbnail(session, source, waveform);
  return {
    files: [
      await writeText(
        request,
        INDEX_NAME,
        formatIndex({ frameRate: NO_PICTURES, tracks: [track], early: [] }),
      ),
      ...filesOf([track], request.workFolder),
      await writeText(request, WAVEFORM, formatWaveform(waveform)),
      thumbnail.file,
    ],
    renditions: [],
    container: session.input.container,
    audio: await readAudioFacts([source.track], { folder, normalization }),
    durationMs: Math.round(durationSeconds * 1000),
    chapters: chaptersOf(source.facts, {
      durationSeconds,
      // The rendition starts with the first packet.
      shiftSeconds: -source.facts.startSeconds,
    }),
    placeholder: await createPlaceholder(session, thumbnail.file.path, thumbnail.size),
    warnings: [...source.warnings, ...damageWarnings(undefined, lostPackets)],
  };
}

/** An index has one. */
const NO_PICTURES = { numerator: 1, denominator: 1 } as const;

type Rendered = { readonly track: CmafTrack; readonly waveform: Waveform; readonly lostPackets: number };

type RenderPlan = {
  readonly source: ExaminedAudio;
  readonly normalization: readonly (Normalization | null)[];
  readonly folder: string;
};

async function render(session: Session, { source, normalization, folder }: RenderPlan): Promise<Rendered> {
  const partSamples = partSamplesFor(source.durationSeconds);
  const errors = countDecodeErrors(NO_VIDEO);
  const { log } = await runStepOrFail(
    { ...session, folder },
    {
      args: audioArguments({
        input: session.input,
        index: source.track.index,
        kilobits: kilobitsFor(source),
        normalization: normalization[0],
        maxSeconds: longestSeconds(session),
        partSamples,
        folder,
      }),
      limits: limitsOf(session, source, folder),
      onLine: progressReader(session, source),
      onLogLine: errors.read,
    },
  );
  const collected = await openSegmentCollector({
    from: folder,
    to: session.request.workFolder,
    trackIds: [TRACK_ID],
  }).collect();
  const [encoded] = describeAudio(collected, {
    firstId: TRACK_ID,
    renditions: [{ track: source.track, channels: 2 }],
  });
  const { sound: lostPackets } = errors.counts();
  if (!encoded || isMostlyMissing(encoded, source)) throw createUndecodable(log);
  if (isTruncated(encoded, source))
    throw lostPackets > 0 && !isTruncationLog(log)
      ? createUndecodable(log)
      : createEncodeFailure('truncated', log);
  const track = await joinShortEnd(encoded, session.request.workFolder);
  // Lines are lost unless they are read at once.
  const lines = createInterface({ input: createReadStream(join(folder, LEVELS_FILE)) });
  return { track, waveform: await readWaveform(lines, partSamples), lostPackets };
}

const createUndecodable = (log: string): EncodeError =>
  new EncodeError('undecodable', 'Most of the sound of the file cannot be decoded.', log);

/** No stream has this index. */
const NO_VIDEO = -1;

/** Of files such as voice messages, and of music. */
const KILOBITS = { low: 128, high: 192 } as const;
/** Sources below it have no more to keep. */
const LOW_SOURCE_KILOBITS = 160;

const kilobitsFor = ({ kilobits }: ExaminedAudio): number =>
  kilobits < LOW_SOURCE_KILOBITS ? KILOBITS.low : KILOBITS.high;

/** A longer file is refused when its end is known. */
const longestSeconds = ({ limits }: Session): number => limits.maxDurationSeconds + 1;

const encodedSeconds = (session: Session, { durationSeconds }: ExaminedAudio): number =>
  durationSeconds ?? longestSeconds(session);

function limitsOf(session: Session, source: ExaminedAudio, folder: string) {
  const { limits } = session;
  const seconds = encodedSeconds(session, source);
  return {
    stallMs: limits.stallSeconds * 1000,
    wallMs: timeLimitMs(soundCost(seconds)),
    output: { folder, bytes: maxOutputBytes([KILOBITS.high], seconds) },
  };
}

function progressReader({ request }: Session, { durationSeconds }: ExaminedAudio) {
  const report = (part: number) => request.onProgress(Math.min(MAX_PERCENT, Math.floor(100 * part)), []);
  report(0);
  return (line: string): void => {
    const seconds = parseOutTime(line);
    if (seconds !== undefined && durationSeconds) report(seconds / durationSeconds);
  };
}

/** The files are stored at the end. */
const MAX_PERCENT = 99;

/** A container may round its duration. */
const TOLERANCE_SECONDS = 0.5;

const isTruncated = (track: CmafTrack, { durationSeconds }: ExaminedAudio): boolean =>
  durationSeconds !== null && trackSeconds(track) < durationSeconds - TOLERANCE_SECONDS;

const isMostlyMissing = (track: CmafTrack, { durationSeconds }: ExaminedAudio): boolean =>
  trackSeconds(track) === 0 || trackSeconds(track) < (durationSeconds ?? 0) / 2;

type Thumbnail = { readonly file: EncodedFile; readonly size: Size };

/** The cover of the file, else a picture of its waveform. */
async function createThumbnail(
  session: Session,
  { cover }: ExaminedAudio,
  waveform: Waveform,
): Promise<Thumbnail> {
  const file = fileOf(session.request, THUMBNAIL);
  if (cover?.size) {
    const args = coverArguments({ input: session.input, index: cover.index, output: file.path });
    if ((await runStep(session, { args })).code === 0) return { file, size: cover.size };
  }
  const pixels = fileOf(session.request, 'waveform.rgb').path;
  await writeFile(pixels, drawWaveform(waveform));
  await runStepOrFail(session, { args: pictureArguments({ pixels, size: PICTURE, output: file.path }) });
  return { file, size: PICTURE };
}
