// Looks at a source before it is encoded: what is in it, what of that is encoded, and where it ends.
import { EncodeFailed } from './encoder.ts';
import { factsArguments, type PacketSelection, packetListArguments } from './engine-input.ts';
import { type Session, failed, runStep } from './ffmpeg-session.ts';
import { type PacketEnds, openPacketList } from './packet-ends.ts';
import { type SourceFacts, parseSourceFacts } from './source-facts.ts';
import { type Timeline, isTooLong, isTruncated, missingSeconds, timelineOf } from './source-timeline.ts';
import { type ChosenStreams, chooseStreams, saysTruncated } from './stream-choice.ts';

export type ExaminedSource = ChosenStreams & { readonly timeline: Timeline };

/** A few frames may bring much with them: colour metadata of kilobytes each. */
const FACTS_BYTES = 1024 * 1024;
const FACTS_MS = 60_000;

/** Throws EncodeFailed for a source that cannot be encoded, or not to its end. */
export async function examineSource(session: Session): Promise<ExaminedSource> {
  const { log } = await runStep(session, {
    args: factsArguments(session.input),
    limits: { wallMs: FACTS_MS },
    logBytes: FACTS_BYTES,
  });
  const facts = parseSourceFacts(log, session.input.container);
  if (!facts) throw failed('not_media', log);
  const chosen = chooseStreams(facts, log);
  if ('code' in chosen) throw new EncodeFailed(chosen.code, chosen.message, log);
  const videoIndex = chosen.video.index;
  const ends = await packetEnds(session, facts, videoIndex);
  const missing = missingSeconds(facts, ends);
  if (isTruncated(missing)) throw failed('truncated', `${missing.toFixed(2)} s are missing\n${log}`);
  const timeline = timelineOf({ facts, videoIndex, ends, missing });
  if (isTooLong(timeline)) throw failed('too_long', log);
  return { ...chosen, timeline };
}

/** The end of the file tells; all of it only where the picture ended long before, or the file names no duration. */
async function packetEnds(session: Session, facts: SourceFacts, videoIndex: number): Promise<PacketEnds> {
  const { streams, startSeconds } = facts;
  const tail =
    facts.durationSeconds === null
      ? undefined
      : await listPackets(session, { part: 'tail', streams }, startSeconds);
  if (tail?.ends.has(videoIndex)) return tail.ends;
  const whole = await listPackets(session, { part: 'whole', streams }, 0);
  // A run that failed before it listed the picture says nothing about where the picture ends.
  if (whole.code !== 0 && !whole.ends.has(videoIndex)) throw failed('encoding_failed', whole.log);
  return whole.ends;
}

type PacketListing = { readonly ends: PacketEnds; readonly code: number; readonly log: string };

async function listPackets(
  session: Session,
  selection: PacketSelection,
  startSeconds: number,
): Promise<PacketListing> {
  const { ends, read } = openPacketList(startSeconds);
  const args = packetListArguments(session.input, selection);
  const { code, log } = await runStep(session, { args, onLine: read });
  if (saysTruncated(log)) throw failed('truncated', log);
  return { ends, code, log };
}
