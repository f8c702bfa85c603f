// Tests that a watch reports the end of a condition once and ignores failed checks.
import { expect, onTestFinished, test } from 'vitest';
import { watchCondition } from './condition-watch.ts';

test('checks again after a failure, and reports the end once', async () => {
  const answers = [true, new Error('the database is away'), false, false];
  const [ends, errors]: [number[], unknown[]] = [[], []];
  const watch = watchCondition(
    async () => {
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer === true;
    },
    { onEnd: () => ends.push(answers.length), onError: (error) => errors.push(error) },
  );
  onTestFinished(watch.close);
  await expect.poll(() => ends, { timeout: 20_000 }).toEqual([1]);
  expect(errors).toEqual([new Error('the database is away')]);
});
