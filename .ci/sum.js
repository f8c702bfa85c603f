// Reads the report of the tests and prints two numbers, passed and failed, for the script that runs them; what failed goes to stderr.
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';

const [file, status] = process.argv.slice(2);
const failures = [];
const suites = read(file).map((suite) => ({ ...suite, name: relative('', suite.name) }));
const tests = suites.flatMap((suite) => suite.assertionResults.map((test) => ({ ...test, title: `${suite.name}: ${test.fullName}` })));
const having = (...states) => tests.filter((test) => states.includes(test.status)).map(({ title }) => title);

failures.push(...having('failed').map((title) => `failed: ${title}`));
failures.push(...suites.filter((suite) => suite.status === 'failed' && !suite.assertionResults.some((test) => test.status === 'failed')).map(({ name }) => `did not run: ${name}`));
if (process.env.MEDIARY_TEST_DATA) failures.push(...having('skipped', 'pending', 'todo', 'disabled').map((title) => `skipped although the test data is there: ${title}`));
if (tests.length === 0) failures.push('no test ran');
// An error that no test saw, or a limit of time.
if (status !== '0' && failures.length === 0) failures.push(`the tests ended with ${status}`);

for (const failure of failures) console.error(failure);
console.log(having('passed').length, failures.length);

function read(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).testResults;
  } catch {
    return []; // A run that was cut off leaves no report: no test ran, as far as is known.
  }
}
