// Tests of schedules: which period a time lies in, and when a job is sent.
import { expect, test } from 'vitest';
import { createScheduler, type JobSchedule, periodOf } from './job-schedule.ts';

const MINUTE_MS = 60_000;
const at = (time: string) => Date.parse(`2026-11-29T${time}Z`);

test.each<[JobSchedule, before: string, after: string]>([
  [{ everyMinutes: 1 }, '10:00:59.999', '10:01:00'],
  [{ everyMinutes: 5 }, '10:04:59.999', '10:05:00'],
  [{ everyMinutes: 60 }, '10:59:59.999', '11:00:00'],
  [{ everyMinutes: 60, atMinute: 23 }, '10:22:59.999', '10:23:00'],
])('the period of %j begins between %s and %s', (schedule, before, after) => {
  const next = periodOf(schedule, at(before)) + 1;
  expect(periodOf(schedule, at(after))).toBe(next);
  expect(periodOf(schedule, at(after) + schedule.everyMinutes * MINUTE_MS - 1)).toBe(next);
  expect(periodOf(schedule, at(after) + schedule.everyMinutes * MINUTE_MS)).toBe(next + 1);
});

const openScheduler = (start: string) => {
  const clock = { now: at(start) };
  const sent: string[] = [];
  let isFailing = false;
  const sendDue = createScheduler(
    {
      jobs: [
        { name: 'hourly', schedule: { everyMinutes: 60, atMinute: 23 } },
        { name: 'often', schedule: { everyMinutes: 5 } },
      ],
      send: async ({ name }) => {
        if (isFailing) throw new Error('no database');
        sent.push(name);
      },
    },
    () => clock.now,
  );
  const sentAt = async (time: string) => {
    clock.now = at(time);
    await sendDue();
    return sent.splice(0);
  };
  const failAt = async (time: string) => {
    isFailing = true;
    await expect(sentAt(time)).rejects.toThrow('no database');
    isFailing = false;
  };
  return { sentAt, failAt };
};

test('a job is sent once in each period, also if it began in the minute before the start', async () => {
  const { sentAt } = openScheduler('10:23:30');
  expect(await sentAt('10:23:30')).toEqual(['hourly']);
  expect(await sentAt('10:24:50')).toEqual([]);
  expect(await sentAt('10:25:00')).toEqual(['often']);
  expect(await sentAt('10:29:59')).toEqual([]);
  expect(await sentAt('11:23:04')).toEqual(['hourly', 'often']);
});

test('a process that slept sends a job once', async () => {
  const { sentAt } = openScheduler('10:30:00');
  expect(await sentAt('10:30:00')).toEqual(['often']);
  expect(await sentAt('15:00:00')).toEqual(['hourly', 'often']);
});

test('a job that could not be sent is sent with the next check', async () => {
  const { sentAt, failAt } = openScheduler('10:22:00');
  expect(await sentAt('10:22:00')).toEqual([]);
  await failAt('10:23:00');
  expect(await sentAt('10:23:10')).toEqual(['hourly']);
});
