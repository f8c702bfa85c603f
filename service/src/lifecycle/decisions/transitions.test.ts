// Compares the transitions with the table of the contract (B6).
import { describe, expect, test } from 'vitest';
import type { StreamStatus } from '@mediary/contract/enums';
import { advance, type StreamEvent, TRANSITIONS } from './transitions.ts';

const EVENTS: readonly StreamEvent[] = ['completed', 'started', 'failed', 'succeeded'];

/** The contract's table; "–" means that the event is too late. */
const CONTRACT = `
  from           | completed  | encoding started | failed | succeeded
  pending_upload | processing | processing       | failed | ready
  processing     | –          | processing       | failed | ready
  failed         | –          | –                | failed | ready
  ready          | –          | –                | –      | ready`;

const rows = CONTRACT.trim()
  .split('\n')
  .slice(1)
  .map((line) => line.split('|').map((cell) => cell.trim()));
const cells = rows.flatMap(([from, ...targets]) =>
  targets.map((to, column) => ({ from: from as StreamStatus, event: EVENTS[column] as StreamEvent, to })),
);

describe('the transitions of a video', () => {
  test.each(cells)('$from, then $event: $to', ({ from, event, to }) => {
    expect(advance(from, event)).toBe(to === '–' ? undefined : to);
  });

  test('are exactly those of the contract', () => {
    expect(cells).toHaveLength(16);
    expect(Object.keys(TRANSITIONS).sort()).toEqual(rows.map(([from]) => from).sort());
    for (const row of Object.values(TRANSITIONS)) expect(Object.keys(row).sort()).toEqual([...EVENTS].sort());
  });

  test('never lead back to a lower state', () => {
    const rank = (status: StreamStatus) =>
      ['pending_upload', 'processing', 'failed', 'ready'].indexOf(status);
    for (const { from, event } of cells)
      expect(rank(advance(from, event) ?? from)).toBeGreaterThanOrEqual(rank(from));
  });

  test('lead to the same state for every order of two events', () => {
    const after = (from: StreamStatus, ...events: StreamEvent[]) =>
      events.reduce<StreamStatus>((status, event) => advance(status, event) ?? status, from);
    for (const { from } of cells) {
      for (const a of EVENTS) {
        for (const b of EVENTS) expect(after(from, a, b)).toBe(after(from, b, a));
      }
    }
  });
});
