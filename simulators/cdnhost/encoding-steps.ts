// Steps of an encoding at cdnhost as data: API states and webhooks, with and without faults.
import type { EncodingFault } from '../fault.ts';
import type { SourceFacts } from '../renderer.ts';
import { API_STATUS, type CdnhostVideo, WEBHOOK_STATUS } from './video.ts';

export type Step = { readonly change: Partial<CdnhostVideo>; readonly webhook: number };

/** Issue codes with a documented name; others have only a number. */
const ISSUES: Readonly<Record<number, string>> = {
  3: 'IncompatibleResolution',
  5: 'VideoExceededMaxDuration',
  7: 'OriginalCorrupted',
};
const ORIGINAL_CORRUPTED = 7;

type Encoding = {
  readonly ladder: readonly number[];
  readonly facts: SourceFacts;
  readonly now: number;
  readonly fault?: EncodingFault | undefined;
};

export function encodingSteps({ ladder, facts, now, fault }: Encoding): readonly Step[] {
  const opening = openingSteps(facts);
  const renditions = renditionSteps(ladder);
  const finished: Step = {
    webhook: WEBHOOK_STATUS.finished,
    change: { status: API_STATUS.finished, encodeProgress: 100, transcodingMessages: [] },
  };
  const first = renditions.slice(0, 1);
  switch (fault?.do) {
    case 'never_finish':
      return opening;
    case 'partial':
      return [...opening, ...first];
    case 'fail':
      return [...opening, ...(fault.after ? first : []), failure(now, fault.code)];
    case 'recover':
      return [...opening, failure(now, fault.code), ...renditions, finished];
    default:
      return [...opening, ...renditions, finished];
  }
}

export const corruptedSteps = (now: number): readonly Step[] => [
  { webhook: WEBHOOK_STATUS.queued, change: { status: API_STATUS.uploaded } },
  failure(now),
];

/** At most the source's height, and at least one rendition. */
export function ladderFor(heights: readonly number[], source: number): readonly number[] {
  const [lowest = 240, ...others] = heights;
  return [lowest, ...others.filter((height) => height <= source)];
}

function openingSteps({ width, height, seconds, fps }: SourceFacts): Step[] {
  return [
    { webhook: WEBHOOK_STATUS.queued, change: { status: API_STATUS.uploaded } },
    {
      webhook: WEBHOOK_STATUS.processing,
      change: { status: API_STATUS.processing, width, height, length: Math.round(seconds), framerate: fps },
    },
    { webhook: WEBHOOK_STATUS.encoding, change: { status: API_STATUS.transcoding, outputCodecs: 'x264' } },
  ];
}

function renditionSteps(ladder: readonly number[]): Step[] {
  return ladder.map((_, index) => ({
    webhook: WEBHOOK_STATUS.resolutionFinished,
    change: {
      status: API_STATUS.transcoding,
      availableResolutions: ladder
        .slice(0, index + 1)
        .map((height) => `${height}p`)
        .join(','),
      encodeProgress: Math.floor(((index + 1) * 99) / ladder.length),
    },
  }));
}

function failure(now: number, code: number | string = ORIGINAL_CORRUPTED): Step {
  const issueCode = Number(code);
  const message = {
    timeStamp: new Date(now).toISOString(),
    level: 3,
    issueCode,
    message: ISSUES[issueCode] ?? `Issue ${issueCode}`,
    value: '',
  };
  return {
    webhook: WEBHOOK_STATUS.failed,
    change: { status: API_STATUS.error, transcodingMessages: [message] },
  };
}
