// Where the borrowed test data lies, if it is there: tests that need it are skipped without.

export const TEST_DATA = process.env['MEDIARY_TEST_DATA'];
