// Skips tests of random and exhaustive input in mutation runs, because they take seconds per mutant.
import { beforeEach } from 'vitest';

const SLOW = new RegExp(
  [
    'random',
    '\\bany (?:object is|text that is not|character that is not|name gives|file name)',
    'a repeated name',
    'one text for each',
    'no JSON makes',
    'in descending order',
    'checks again after',
  ].join('|'),
);

beforeEach(({ task, skip }) => {
  if (SLOW.test(task.name)) skip();
});
