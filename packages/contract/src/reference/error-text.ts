// The errors of an operation: its own in a table, and those of every request by their codes.
import { ERROR_CODES, ERROR_REASONS, type ErrorCode } from '../errors.ts';
import { impliedErrors, statusOfCase } from '../openapi/implied-errors.ts';
import type { ErrorCase, Operation } from '../operation.ts';
import { renderTable } from './schema-rows.ts';

export function renderErrors(operation: Operation): string {
  const own = [...(operation.errors ?? [])].sort((one, other) => statusOfCase(one) - statusOfCase(other));
  const implied = [...new Set(impliedErrors(operation).map(({ code }) => `\`${code}\``))];
  return [
    '**Errors**',
    ...(own.length === 0 ? [] : [renderCases(own)]),
    `${own.length === 0 ? 'Only those' : 'Also those'} of [every request]` +
      `(README.md#errors-of-every-request): ${implied.join(', ')}.`,
  ].join('\n\n');
}

export const renderCases = (cases: readonly ErrorCase[]): string =>
  renderTable(
    ['Status', 'Code', 'When'],
    cases.map((each) => [String(statusOfCase(each)), renderCode(each), each.when]),
  );

const renderCode = ({ code, reason }: ErrorCase): string =>
  `[\`${code}\`](../errors.md#${toAnchor(code)})${reason ? ` \`${reason}\`` : ''}`;

/** docs/errors.md has a section for each code with reasons. */
const toAnchor = (code: ErrorCode): string =>
  Object.values(ERROR_REASONS).some(({ codes }) => (codes as readonly ErrorCode[]).includes(code))
    ? `${code.toLowerCase()}-${ERROR_CODES[code].status}`
    : 'codes';
