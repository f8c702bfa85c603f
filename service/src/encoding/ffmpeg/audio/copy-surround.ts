// Copies surround sound of the source into segments, for players that decode its codec.
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Warning } from '../../../assets/asset.ts';
import { EncodeError } from '../../encoder.ts';
import type { AudioTrack } from '../../model/audio-track.ts';
import { type CmafTrack, trackSeconds } from '../../model/cmaf-track.ts';
import type { Rational } from '../../model/source.ts';
import { firstPacketArguments, type SoundCopy, soundCopyArguments } from '../../plan/arguments/sound-copy.ts';
import { soundCost, timeLimitMs } from '../../plan/ladder/encode-cost.ts';
import { copiedTracks } from '../../plan/source/audio-tracks.ts';
import { openFirstPacket } from '../../plan/source/source-timeline.ts';
import { targetSecondsOf } from '../encode-phase.ts';
import { joinShortEnd, openSegmentCollector } from '../ffmpeg-output.ts';
import { runStepOrFail, type Session } from '../ffmpeg-session.ts';
import type { PlannedEncode } from '../planned-encode.ts';

/** Beyond those of all pictures. */
const FIRST_TRACK_ID = 500;
/** A later or shorter track would have gaps, which other renditions fill with silence. */
const MAX_GAP_SECONDS = 0.25;
/** Some encoders state the 256 samples by which they delay sound. Nobody hears them. */
const MAX_EARLY_SECONDS = 0.02;
const NO_PACKET: Rational = { numerator: Number.NaN, denominator: 1 };
/** Another rate has packets that do not start at whole ticks of every container. */
const SAMPLE_RATE = 48_000;

/** Boxes that the container of the source does not have. */
const HEADERS_BYTES = 16 * 1024 ** 2;

type CopiedSurround = { readonly tracks: readonly CmafTrack[]; readonly warnings: readonly Warning[] };

/** A track that cannot be copied only adds a warning: all of them are encoded too. */
export async function copySurround(encode: PlannedEncode): Promise<CopiedSurround> {
  const { session, source } = encode;
  const tracks: CmafTrack[] = [];
  const warnings: Warning[] = [];
  for (const track of copiedTracks(source.audio, session.ladder.audioPassthrough)) {
    try {
      tracks.push(await copyTrack(encode, track, FIRST_TRACK_ID + tracks.length));
    } catch (error) {
      if (!(error instanceof EncodeError)) throw error;
      const message = `Stream ${track.index} (${track.codec}) plays only as it is encoded: ${error.message}`;
      warnings.push({ code: 'surround_not_copied', message });
    }
  }
  return { tracks, warnings };
}

async function copyTrack(encode: PlannedEncode, track: AudioTrack, id: number): Promise<CmafTrack> {
  const { session, source } = encode;
  const { timeline, bytes, facts } = source;
  const { request, limits } = session;
  if (facts.streams.find(({ index }) => index === track.index)?.sampleRate !== SAMPLE_RATE)
    throw new EncodeError('encode_failed', `its sample rate is not ${SAMPLE_RATE} Hz.`);
  const plan = { input: session.input, timeline, streams: facts.streams, track };
  const start = await findStart(session, plan);
  const folder = join(request.workFolder, `sound-${id}`);
  await mkdir(folder);
  await runStepOrFail(
    { ...session, folder },
    {
      args: soundCopyArguments({ ...plan, folder }),
      limits: {
        stallMs: limits.stallSeconds * 1000,
        wallMs: timeLimitMs(soundCost(timeline.durationSeconds)),
        // A copy has at most the size of the source.
        output: { folder, bytes: bytes + HEADERS_BYTES },
      },
      onLine: () => {},
    },
  );
  const offset = { segments: 0, start };
  const collector = openSegmentCollector({ from: folder, to: request.workFolder, trackIds: [id], offset });
  const [copied] = await collector.collect();
  if (!copied || Math.abs(trackSeconds(copied) - timeline.durationSeconds) > MAX_GAP_SECONDS)
    throw new EncodeError('encode_failed', 'it does not last as long as the picture.');
  return {
    ...(await joinShortEnd(copied, request.workFolder)),
    audio: { track, channels: 6, isCopy: true },
    targetSeconds: targetSecondsOf(encode),
  };
}

/**
 * Of the first packet on the clock of the renditions, in whole samples. Fragments cannot state it below zero,
 * and MPEG-TS has ticks that are no samples.
 */
async function findStart(session: Session, plan: SoundCopy): Promise<Rational> {
  const list = openFirstPacket();
  let first: Rational | undefined;
  const onLine = (line: string): void => {
    first ??= list.read(line);
  };
  await runStepOrFail(session, { args: firstPacketArguments(plan), onLine });
  const { numerator, denominator } = first ?? NO_PACKET;
  const seconds = numerator / denominator;
  if (!(seconds >= -MAX_EARLY_SECONDS && seconds <= MAX_GAP_SECONDS))
    throw new EncodeError('encode_failed', 'it does not start with the picture.');
  return { numerator: Math.max(0, Math.round(seconds * SAMPLE_RATE)), denominator: SAMPLE_RATE };
}
