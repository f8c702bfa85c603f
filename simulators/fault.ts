// Faults that tests can inject, and how often they apply.
type FaultScope = {
  /** Number of affected events; without it, all events until the faults are cleared. */
  readonly times?: number;
  readonly video?: string;
};

export type WebhookFault = FaultScope & {
  readonly on: 'webhook';
  readonly do: 'drop' | 'delay' | 'duplicate' | 'reorder' | 'wrong_signature' | 'clock_skew';
  /** `delay`: the delay. `reorder`: the maximum wait for a later event to overtake. */
  readonly ms?: number;
  /** `clock_skew`: offset of the signed time. */
  readonly seconds?: number;
  /** Applies only to webhooks with this Status (cdnhost) or state (edgehost). */
  readonly when?: number | string;
};

export type EncodingFault = FaultScope & {
  readonly on: 'encoding';
  /**
   * `recover`: an error, then success. `partial`: only the lowest rendition is created. `upload_failed`: only
   * cdnhost.
   */
  readonly do: 'never_finish' | 'fail' | 'recover' | 'partial' | 'upload_failed';
  /** cdnhost: an issue code (7). edgehost: an error code (`ERR_MALFORMED_VIDEO`). */
  readonly code?: number | string;
  /** `fail` only after the video was playable. */
  readonly after?: 'first_rendition';
};

export type ApiFault = Omit<FaultScope, 'video'> & {
  readonly on: 'api';
  /**
   * `cut`: the connection ends before the request is processed. `lose_answer`: processed without a response.
   * `slow`: processed with a late response.
   */
  readonly do: 'status' | 'slow' | 'slow_body' | 'cut' | 'lose_answer';
  /** The name of a route, or a group: `api` (default), `upload`, `playback`. */
  readonly route?: string;
  /** Default: 503. */
  readonly status?: number;
  readonly retryAfter?: number | string;
  readonly ms?: number;
  /** `cut` only after this many bytes of the body. */
  readonly afterBytes?: number;
};

export type Fault = WebhookFault | EncodingFault | ApiFault;
export type Faults = {
  readonly add: (faults: readonly Fault[]) => void;
  readonly clear: () => void;
  readonly list: () => readonly Fault[];
  readonly forWebhook: (video: string, kind: number | string) => readonly WebhookFault[];
  readonly forEncoding: (video: string, kinds: readonly EncodingFault['do'][]) => EncodingFault | undefined;
  readonly forCall: (route: { readonly name: string; readonly group: string }) => ApiFault | undefined;
};

const KINDS: { readonly [On in Fault['on']]: readonly Extract<Fault, { on: On }>['do'][] } = {
  webhook: ['drop', 'delay', 'duplicate', 'reorder', 'wrong_signature', 'clock_skew'],
  encoding: ['never_finish', 'fail', 'recover', 'partial', 'upload_failed'],
  api: ['status', 'slow', 'slow_body', 'cut', 'lose_answer'],
};

export function isFault(value: unknown): value is Fault {
  if (typeof value !== 'object' || value === null || !('on' in value) || !('do' in value)) return false;
  if ('status' in value && !isStatus(value.status)) return false;
  if ('retryAfter' in value && !/^[ -~]*$/.test(String(value.retryAfter))) return false;
  return Object.entries(KINDS).some(
    ([on, kinds]) => on === value.on && kinds.some((kind) => kind === value.do),
  );
}

const isStatus = (value: unknown): boolean => Number.isInteger(value) && /^[2-5]\d\d$/.test(String(value));

export function createFaults(): Faults {
  let entries: { readonly fault: Fault; left: number }[] = [];
  const take = <Kind extends Fault>(matches: (fault: Fault) => fault is Kind, limit: number): Kind[] => {
    const hits = entries.filter(({ fault }) => matches(fault)).slice(0, limit);
    for (const hit of hits) hit.left -= 1;
    entries = entries.filter(({ left }) => left > 0);
    return hits.map(({ fault }) => fault).filter(matches);
  };
  const isFor = (fault: Exclude<Fault, ApiFault>, video: string) =>
    fault.video === undefined || fault.video === video;
  return {
    add: (faults) =>
      void entries.push(...faults.map((fault) => ({ fault, left: fault.times ?? Number.POSITIVE_INFINITY }))),
    clear: () => void entries.splice(0),
    list: () => entries.map(({ fault }) => fault),
    forWebhook: (video, kind) =>
      take(
        (fault): fault is WebhookFault =>
          fault.on === 'webhook' && isFor(fault, video) && [undefined, kind].includes(fault.when),
        Number.POSITIVE_INFINITY,
      ),
    forEncoding: (video, kinds) =>
      take(
        (fault): fault is EncodingFault =>
          fault.on === 'encoding' && isFor(fault, video) && kinds.includes(fault.do),
        1,
      )[0],
    forCall: ({ name, group }) =>
      take(
        (fault): fault is ApiFault => fault.on === 'api' && [name, group].includes(fault.route ?? 'api'),
        1,
      )[0],
  };
}
