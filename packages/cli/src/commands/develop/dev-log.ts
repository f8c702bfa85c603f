// The log of `mediary dev`: what was started, then lines of the service and the listener with prefixes.
import type { StreamedEvent } from '@mediary/client';
import { formatFacts, type LogLine } from '../../develop/service-process.ts';
import type { Forwarded } from '../../events/webhook-forwarder.ts';
import type { Output, Style } from '../../output.ts';
import { formatFields } from '../../text.ts';
import { formatEvent } from '../events.ts';
import { formatForwarded } from './forwarding.ts';

type DevStart = {
  readonly address: string;
  readonly consoleUrl: string | undefined;
  readonly serviceKey: string | undefined;
  readonly operatorKey: string | undefined;
  readonly accessTokenSecret: string | undefined;
  /** Signs what is forwarded. */
  readonly secret: string;
  readonly forwardTo: string | undefined;
  /** Undefined: the service was running. */
  readonly dataFolder: string | undefined;
};

export type DevLog = {
  start(start: DevStart): void;
  service(line: LogLine): void;
  event(event: StreamedEvent): Promise<void>;
  forwarded(forwarded: Forwarded): void;
};

const STYLES: Readonly<Record<string, Style>> = { warn: 'yellow', error: 'red', fatal: 'red' };

export function createDevLog(output: Output): DevLog {
  const print = (part: 'service' | 'events' | 'webhooks', value: object, render: () => string): void =>
    output.item({ part, ...value }, () => {
      const prefix = output.style(part === 'service' ? 'cyan' : 'green', part.padEnd(8));
      return render()
        .split('\n')
        .map((line) => `${prefix}  ${line}`)
        .join('\n');
    });
  return {
    start: (start) => output.item({ part: 'dev', ...toDocument(start) }, () => formatStart(start, output)),
    service: (line) => print('service', line, () => formatLine(line, output)),
    event: async (event) => print('events', event, () => formatEvent(event)),
    forwarded: (forwarded) =>
      print('webhooks', forwarded, () => {
        const text = formatForwarded(forwarded);
        return forwarded.accepted ? text : output.style('red', text);
      }),
  };
}

function formatLine({ level, text, facts }: LogLine, { style }: Output): string {
  const colour = STYLES[level];
  const message = colour ? style(colour, `${level}: ${text}`) : text;
  const details = formatFacts(facts);
  return details === '' ? message : `${message}  ${style('dim', details)}`;
}

const toDocument = (start: DevStart) => ({
  url: start.address,
  console_url: start.consoleUrl ?? null,
  service_key: start.serviceKey ?? null,
  operator_key: start.operatorKey ?? null,
  access_token_secret: start.accessTokenSecret ?? null,
  webhook_secret: start.secret,
  forward_to: start.forwardTo ?? null,
  data_folder: start.dataFolder ?? null,
});

function formatStart(start: DevStart, { style }: Output): string {
  const fields = formatFields([
    ['base URL', start.address],
    ['console', start.consoleUrl && `${start.consoleUrl} (once, within 10 minutes)`],
    ['service key', start.serviceKey],
    ['operator key', start.operatorKey],
    ['token secret', start.accessTokenSecret],
    ['webhook secret', start.secret],
    ['forwards to', start.forwardTo ?? 'nothing; events are printed (--forward-to <url>)'],
    ['data folder', start.dataFolder],
  ]);
  const hint = `In another terminal: export MEDIARY_URL=${start.address}. Ctrl-C ends.`;
  return `\n${style('bold', 'Mediary is ready.')}\n${fields}\n${hint}\n`;
}
