// A film that has lived through half an hour by a clock that stands still between two steps.
import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { makeClip } from './clips.ts';
import { openUpload, putBytes, settled } from '../media.ts';
import { asUser, call, startTestService, type TestService } from '../service.ts';
import { PROCESSED, tell } from '../providers/webhooks.ts';

export type TimelineFilm = {
  readonly service: TestService;
  readonly id: string;
  /** The first moment of the clock, in milliseconds. */
  readonly start: number;
  later(minutes: number): void;
  ask(request: string, json?: object): Promise<void>;
};

export async function startTimelineFilm(): Promise<TimelineFilm> {
  const start = Date.now();
  let now = start;
  const later = (minutes: number) => {
    now += minutes * 60_000;
  };
  const service = await startTestService({}, { now: () => new Date(now) });
  const headers = asUser('ann');
  const ask = async (request: string, json?: object) =>
    expect(await call(service, request, { headers, ...(json && { json }) })).toMatchObject({ status: 200 });
  const bytes = await readFile(await makeClip({ seconds: 1 }));
  return { service, start, later, ask, id: await live({ service, bytes, later, ask }) };
}

type Life = Omit<TimelineFilm, 'id' | 'start'> & { readonly bytes: Buffer };

/** A minute for each step. */
async function live({ service, bytes, later, ask }: Life): Promise<string> {
  const started = await openUpload(service, 'ann');
  const id = started.asset_id;
  const steps = [
    () => putBytes(started, bytes),
    () => ask(`PATCH /media/${id}`, { title: 'A film', tags: ['a'] }),
    () => ask(`POST /media/${id}/complete`),
    () => ask(`DELETE /media/${id}?trash=true`),
    () => ask(`POST /media/${id}/restore`),
    async () =>
      expect(
        await tell(service, 'onprem', {
          asset_id: id,
          status: 'failed',
          attempt: 2,
          failure: { code: 'no_sound', message: 'No sound', retryable: true },
        }),
      ).toEqual(PROCESSED),
    () => ask(`POST /media/${id}/retry?expand=asset`),
  ];
  for (const step of steps) {
    later(1);
    await step();
    if (step === steps[2] || step === steps[6]) await settled(service, 'ann', id);
  }
  return id;
}
