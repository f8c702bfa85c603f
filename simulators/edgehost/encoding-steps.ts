// Steps of an encoding at edgehost as data, with and without faults. Webhooks are sent only for `ready` and
// `error`.
import type { EncodingFault } from '../fault.ts';
import type { SourceFacts } from '../renderer.ts';
import { type EdgehostVideo, ERRORS, type VideoState, type Status } from './video.ts';

export type Step = Partial<EdgehostVideo> & { readonly status: Status };
type Encoding = {
  readonly facts: SourceFacts | undefined;
  readonly maxSeconds: number | null;
  readonly fault?: EncodingFault | undefined;
};

export const isAnnounced = ({ status }: Step): boolean =>
  status.state === 'ready' || status.state === 'error';

export function encodingSteps({ facts, maxSeconds, fault }: Encoding): readonly Step[] {
  const queued = step('queued', 0);
  if (!facts) return [queued, failure('ERR_NON_VIDEO')];
  const known = { duration: facts.seconds, input: { width: facts.width, height: facts.height } };
  const opening = [queued, { ...step('inprogress', 0), ...known }, step('inprogress', 50)];
  const problem = durationProblem(facts.seconds, maxSeconds);
  if (problem) return [queued, { ...failure(problem), ...known }];
  const early: Step = { ...step('ready', 39), readyToStream: true };
  const ready: Step = { ...step('ready', 100), readyToStream: true };
  switch (fault?.do) {
    case 'never_finish':
      return opening;
    case 'partial':
      return [...opening, early];
    case 'fail':
      return [...opening, ...(fault.after ? [early] : []), failure(fault.code)];
    case 'recover':
      return [...opening, failure(fault.code), step('inprogress', 75), ready];
    default:
      return [...opening, ready];
  }
}

function durationProblem(seconds: number, maxSeconds: number | null): keyof typeof ERRORS | undefined {
  if (seconds < 0.1) return 'ERR_DURATION_TOO_SHORT';
  return maxSeconds !== null && seconds > maxSeconds ? 'ERR_DURATION_EXCEED_CONSTRAINT' : undefined;
}

const step = (state: VideoState, percent: number): Step => ({
  readyToStream: false,
  status: { state, pctComplete: percent.toFixed(6), errorReasonCode: '', errorReasonText: '' },
});

function failure(code: number | string = 'ERR_MALFORMED_VIDEO'): Step {
  const text = Object.entries(ERRORS).find(([known]) => known === code)?.[1] ?? ERRORS.ERR_UNKNOWN;
  return {
    readyToStream: false,
    status: {
      state: 'error',
      step: 'encoding',
      pctComplete: '39.000000',
      errorReasonCode: String(code),
      errorReasonText: text,
    },
  };
}
