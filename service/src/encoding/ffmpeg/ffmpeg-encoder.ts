// Encoder that runs ffmpeg in phases, of which the first is soon playable, and writes the manifests.
import { dirname } from 'node:path';
import type { Warning } from '../../assets/asset.ts';
import { THUMBNAIL } from '../../storage/object-key.ts';
import type { CmafTrack } from '../packaging/cmaf-track.ts';
import { audioRenditions } from '../plan/audio-tracks.ts';
import type { SwitchingSet } from '../plan/codecs.ts';
import { assertCost } from '../plan/encode-cost.ts';
import { sortTracks } from '../plan/encoded-top.ts';
import { planPhases } from '../plan/encode-phases.ts';
import { renditionsOf } from '../plan/encode-progress.ts';
import { findHdrRange } from '../plan/hdr-source.ts';
import { perSecondOf } from '../plan/frame-rate.ts';
import { type Rung, chooseLadder } from '../plan/ladder.ts';
import { toVideoFacts } from '../plan/source-traits.ts';
import { posterArguments } from '../plan/poster-arguments.ts';
import { EncodeError, type Encoder, type Encoding } from '../encoder.ts';
import { planChunkSpecs, runChunkedPhase } from './chunked-phase.ts';
import { encodeChunk } from './encode-chunk.ts';
import { checkSource, newSourceCheck } from './check-phase.ts';
import { filesOf, phaseFolder, runPhase } from './encode-phase.ts';
import { planEncodedTop, type PlannedEncode } from './planned-encode.ts';
import { writeManifests } from './write-manifests.ts';
import { type ExaminedSource, examineSource, findCopy } from './examine-source.ts';
import { createPosters } from './create-posters.ts';
import { cutSource } from './cut-source.ts';
import { createExtra } from './ffmpeg-extras.ts';
import { extractSubtitles } from './extract-subtitles.ts';
import { fileOf, readExcerptTrack } from './ffmpeg-output.ts';
import { createPlaceholder } from './placeholder.ts';
import { readAudioFacts } from './measured-audio.ts';
import {
  type FfmpegSetup,
  type EncoderOptions,
  type Session,
  openSession,
  runStepOrFail,
} from './ffmpeg-session.ts';

export const openFfmpegEncoder = ({
  limits,
  concurrency,
  ladder,
  ...setup
}: FfmpegSetup & EncoderOptions): Encoder => ({
  encode: (request) => encode(openSession(setup, request, { limits, concurrency, ladder })),
  encodeChunk: (request) => encodeChunk(setup, request, { limits, concurrency }),
  extractSubtitles: (request) => extractSubtitles(setup, request),
  createPoster: async (request) => {
    const folder = dirname(request.output);
    const track = await readExcerptTrack(request.excerpt);
    await runStepOrFail({ ...setup, folder, request }, { args: posterArguments({ ...request, track }) });
  },
  createExtra: (request) => createExtra(setup, request),
  cut: (request) => cutSource(openSession(setup, request, { limits, concurrency, ladder })),
});

async function encode(session: Session): Promise<Encoding> {
  const { request } = session;
  const source = await examineSource(session);
  const { frame, timeline, warnings } = source;
  const rungs = chooseRungs(session, source);
  assertCost({ timeline, rungs }, session.limits);
  const {
    planned,
    tracks,
    warnings: runWarnings,
  } = await runPhases(await planEncode(session, source, rungs));
  const listed = tracks.filter(({ id }) => id !== planned.replacedTrack);
  const files = [
    ...(await writeManifests(planned, tracks, listed)),
    ...filesOf(tracks, request.workFolder),
    ...(await createPosters(planned, listed)),
  ];
  return {
    files: files.filter(({ name }) => !planned.published.has(name) && !planned.chunked.has(name)),
    renditions: renditionsOf({ ...planned, tracks: listed, current: undefined }),
    container: session.input.container,
    video: toVideoFacts(source),
    audio: await readAudioFacts(source.audio, phaseFolder(session, 0)),
    ...frame.displaySize,
    durationMs: Math.round(timeline.durationSeconds * 1000),
    placeholder: await createPlaceholder(session, fileOf(request, THUMBNAIL).path, frame.displaySize),
    warnings: [...warnings, ...runWarnings],
  };
}

function chooseRungs(
  { ladder }: Session,
  { frame, timeline, kilobits, video }: ExaminedSource,
): readonly Rung[] {
  const framesPerSecond = perSecondOf(timeline.frameRate);
  return chooseLadder(frame.displaySize, {
    source: { framesPerSecond, kilobits, codec: video.codec, hdrRange: findHdrRange({ frame, video }) },
    ladder,
  });
}

type EncodedTracks = {
  readonly planned: PlannedEncode;
  readonly tracks: readonly CmafTrack[];
  readonly warnings: readonly Warning[];
};

/** Throws EncodeError if H.264 fails. A further codec that fails only adds a warning. */
async function runPhases(planned: PlannedEncode): Promise<EncodedTracks> {
  const tracks: CmafTrack[] = [];
  const warnings: Warning[] = [];
  for (const [index, { video }] of planned.phases.entries()) {
    const top = video === 'copy' ? undefined : video[0];
    try {
      tracks.push(...(await runOneOrMany(planned, index, tracks)));
    } catch (error) {
      if (!top || top.codec === 'h264' || !(error instanceof EncodeError)) throw error;
      warnings.push({
        code: 'extra_codec_failed',
        message: `The video has no ${describeSet(top)} renditions: ${error.message}`,
      });
    }
  }
  warnings.push(...(await checkSource(planned)));
  const extended = planEncodedTop(planned, tracks);
  if (extended !== planned) tracks.push(...(await runOneOrMany(extended, planned.phases.length, tracks)));
  return { planned: extended, tracks: sortTracks(tracks, extended.encodedTop), warnings };
}

const describeSet = ({ codec, range }: SwitchingSet): string =>
  [codec, ...(range === 'sdr' ? [] : [range])].join(' ').toUpperCase();

/** On this machine, or in chunks on all of them. */
function runOneOrMany(
  planned: PlannedEncode,
  index: number,
  earlier: readonly CmafTrack[],
): Promise<readonly CmafTrack[]> {
  const specs = planChunkSpecs(planned, index, earlier);
  return specs.length > 0
    ? runChunkedPhase(planned, { index, earlier, specs })
    : runPhase(planned, index, earlier);
}

async function planEncode(
  session: Session,
  source: ExaminedSource,
  rungs: readonly Rung[],
): Promise<PlannedEncode> {
  const copy = await findCopy(session, source, rungs[0] as Rung);
  const phases = planPhases({
    rungs,
    copyUse: copy?.use,
    audioTracks: audioRenditions(source.audio).length,
    durationSeconds: source.timeline.durationSeconds,
  });
  return {
    ...phases,
    session,
    source,
    rungs,
    copiedGroupSeconds: copy?.groupSeconds,
    startedAt: new Date(),
    published: new Set(),
    chunked: new Set(),
    check: newSourceCheck(),
  };
}
