// Skips tests of random and exhaustive input in mutation runs: they take seconds each, and a mutant may run all of them.
import { beforeEach } from 'vitest';

const SLOW =
  /random|\bany (?:object is|text that is not|character that is not|name gives|file name)|a repeated name|one text for each|no JSON makes|in descending order|checks again after/;

beforeEach(({ task, skip }) => {
  if (SLOW.test(task.name)) skip();
});
