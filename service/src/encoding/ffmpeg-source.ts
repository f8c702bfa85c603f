// Looks at a source before it is encoded: what is in it, what of that is encoded, and where it ends.
import { stat } from 'node:fs/promises';
import { assertDuration } from './encode-cost.ts';
import { factsArguments, packetListArguments } from './engine-input.ts';
import { type Session, failed, runStep } from './ffmpeg-session.ts';
import { type PacketEnds, openPacketList } from './packet-ends.ts';
import { type SourceFacts, parseSourceFacts } from './source-facts.ts';
import { type Timeline, isTruncated, missingSeconds, timelineOf } from './source-timeline.ts';
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
  if (typeof chosen === 'string') throw failed(chosen, log);
  const videoIndex = chosen.video.index;
  const ends = await packetEnds(session, facts, videoIndex);
  const missing = missingSeconds(facts, ends);
  if (isTruncated(missing)) throw failed('truncated', `${missing.toFixed(2)} s are missing\n${log}`);
  const { size: bytes } = await stat(session.order.source);
  const timeline = timelineOf({ facts, videoIndex, ends, missing, bytes });
  assertDuration(timeline, session.limits);
  return { ...chosen, timeline };
}

/** The end of the file tells; all of it only where the picture ended long before, or the file names no duration. */
async function packetEnds(session: Session, facts: SourceFacts, videoIndex: number): Promise<PacketEnds> {
  const tail =
    facts.durationSeconds === null ? undefined : await listPackets(session, 'tail', facts.startSeconds);
  return tail?.has(videoIndex) ? tail : listPackets(session, 'whole', 0);
}

async function listPackets(
  session: Session,
  part: 'tail' | 'whole',
  startSeconds: number,
): Promise<PacketEnds> {
  const { ends, read } = openPacketList(startSeconds);
  const { log } = await runStep(session, { args: packetListArguments(session.input, part), onLine: read });
  if (saysTruncated(log)) throw failed('truncated', log);
  return ends;
}
