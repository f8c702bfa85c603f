// Notes each test as it ends in the file TEST_REPORT, and shows at once why one failed, so that a run that is
// cut off counts and speaks too.
import { appendFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';

export default function Reporter() {
  return {
    onTestCaseResult: (test) =>
      note(test.result().state, `${test.module.relativeModuleId}: ${test.fullName}`, test.result().errors),
    onTestSuiteResult: (suite) =>
      noteErrors(`${suite.module.relativeModuleId}: ${suite.fullName}`, suite.errors()),
    onTestModuleEnd: (module) => noteErrors(module.relativeModuleId, module.errors()),
    onTestRunEnd: (_modules, errors) => noteErrors('outside of the tests', errors),
  };
}

function noteErrors(title, errors = []) {
  if (errors.length > 0) note('failed', title, errors);
}

/** The report has a line for each test: the first words of an error are enough there. */
const WHY_CHARS = 300;

function note(state, title, errors = []) {
  const why = errors.map(({ message }) => `: ${stripVTControlCharacters(message).slice(0, WHY_CHARS)}`);
  const line = [`${state} ${JSON.stringify(title)}`, ...why].join('');
  appendFileSync(process.env.TEST_REPORT, `${line.replaceAll(/\s+/g, ' ')}\n`);
  for (const { message, diff, stack } of errors)
    console.error(
      stripVTControlCharacters(`\nFAILED ${title}\n${message}\n${diff ?? ''}\n${stack ?? ''}`).slice(0, 4000),
    );
}
