// Scrapes the metrics of a process, and reads their text.
import type { AddressInfo } from 'node:net';
import { expect } from 'vitest';
import { httpServerOf, type TestService } from '../service.ts';

type Sample = {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
};

export type Scrape = {
  readonly text: string;
  readonly samples: readonly Sample[];
  /** The sum of all samples with these labels; undefined: there is none. */
  readonly sumOf: (name: string, labels?: Readonly<Record<string, string>>) => number | undefined;
};

/** Without a proxy, also where journeys pass through one. */
export function directAddressOf(service: TestService): string {
  const { port } = httpServerOf(service).server.address() as AddressInfo;
  return `http://127.0.0.1:${port}`;
}

export async function scrape(address: string, headers: Record<string, string> = {}): Promise<Scrape> {
  const response = await fetch(new URL('/metrics', address), { headers });
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const text = await response.text();
  const samples = text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map(parseSample);
  return {
    text,
    samples,
    sumOf: (name, labels = {}) => {
      const found = samples.filter(
        (sample) =>
          sample.name === name &&
          Object.entries(labels).every(([label, value]) => sample.labels[label] === value),
      );
      return found.length === 0 ? undefined : found.reduce((sum, { value }) => sum + value, 0);
    },
  };
}

const LINE = /^(?<name>\w+)(?:\{(?<labels>[^}]*)\})? (?<value>[-+\d.eE]+|Nan)$/;

function parseSample(line: string): Sample {
  const { name = '', labels = '', value } = LINE.exec(line)?.groups ?? {};
  if (name === '') throw new Error(`not a sample: ${line}`);
  const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label = '', text = '']) => [label, text]);
  return { name, labels: Object.fromEntries(pairs) as Record<string, string>, value: Number(value) };
}
