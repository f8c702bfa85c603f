// Sends webhooks one at a time, applies faults, and records each delivery with its response. It never retries
// by itself.
import type { Clock } from './clock.ts';
import type { Faults, WebhookFault } from './fault.ts';

export type Report = {
  readonly video: string;
  /** Status (cdnhost) or state (edgehost). */
  readonly kind: number | string;
  readonly body: string;
};
export type Delivery = Report & {
  /** Undefined when no URL was known or the webhook was dropped. */
  readonly url?: string;
  readonly headers: Readonly<Record<string, string>>;
  /** HTTP status of the response; undefined without a response. */
  readonly status?: number;
  readonly answer?: string;
  readonly problem?: string;
};

type SenderOptions = {
  readonly clock: Clock;
  readonly faults: Faults;
  readonly url: () => string | undefined;
  readonly sign: (body: string, unixSeconds: number) => Readonly<Record<string, string>>;
  readonly log: (line: string) => void;
};
export type WebhookSender = {
  /** Resolves when the webhook was answered, dropped or postponed. */
  readonly send: (report: Report) => Promise<void>;
  readonly deliveries: () => readonly Delivery[];
  readonly clear: () => void;
};

const MAX_REORDER_MS = 2000;
const RESPONSE_TIMEOUT_MS = 10_000;

export function createWebhookSender(options: SenderOptions): WebhookSender {
  const deliveries: Delivery[] = [];
  let overtaken: (() => Promise<void>)[] = [];
  let last: Promise<void> = Promise.resolve();

  const post = (report: Report, faults: readonly WebhookFault[]): Promise<void> => {
    last = last.then(async () => {
      const delivery = await deliver(options, report, faults);
      deliveries.push(delivery);
      options.log(`webhook ${report.video} ${report.kind}: ${delivery.problem ?? delivery.status}`);
    });
    return last;
  };
  const releaseOvertaken = async () => {
    const waiting = overtaken;
    overtaken = [];
    for (const release of waiting) await release();
  };
  const postAll = async (report: Report, faults: readonly WebhookFault[]) => {
    await post(report, faults);
    if (has(faults, 'duplicate')) await post(report, faults);
    await releaseOvertaken();
  };

  return {
    deliveries: () => deliveries,
    clear: () => {
      deliveries.length = 0;
      overtaken = [];
    },
    send: async (report) => {
      const faults = options.faults.forWebhook(report.video, report.kind);
      const delay = has(faults, 'delay');
      const reorder = has(faults, 'reorder');
      if (has(faults, 'drop')) return void deliveries.push({ ...report, headers: {}, problem: 'dropped' });
      if (delay) return options.clock.after(delay.ms ?? 1000, () => postAll(report, faults));
      if (!reorder) return postAll(report, faults);
      overtaken.push(() => post(report, faults));
      options.clock.after(reorder.ms ?? MAX_REORDER_MS, releaseOvertaken);
    },
  };
}

const has = (faults: readonly WebhookFault[], kind: WebhookFault['do']) =>
  faults.find((fault) => fault.do === kind);

async function deliver(
  { clock, url, sign }: SenderOptions,
  report: Report,
  faults: readonly WebhookFault[],
): Promise<Delivery> {
  const target = url();
  const time = Math.floor(clock.now() / 1000) + (has(faults, 'clock_skew')?.seconds ?? 0);
  const signed = has(faults, 'wrong_signature') ? `${report.body} ` : report.body;
  const delivery = { ...report, headers: { 'Content-Type': 'application/json', ...sign(signed, time) } };
  if (target === undefined) return { ...delivery, problem: 'no address' };
  try {
    const answer = await fetch(target, {
      method: 'POST',
      headers: delivery.headers,
      body: report.body,
      signal: AbortSignal.timeout(RESPONSE_TIMEOUT_MS),
    });
    return { ...delivery, url: target, status: answer.status, answer: await answer.text() };
  } catch (error) {
    return { ...delivery, url: target, problem: String(error) };
  }
}
