import { expect, test } from 'vitest';
import { issueTicket, ticketReason } from './asset-ticket.ts';
import { toSecret } from './secret.ts';

const NOW = 1_700_000_000;
const [ours, other] = [toSecret('url-signing-secret-0123456789'), toSecret('another-secret-0123456789-0123')];
const ticket = (expires: number, by = ours) => issueTicket([by], 'upload', { assetId: 'a', expires });

test.each([
  ['nothing', '', 'missing'],
  ['a text of its own', 'nonsense', 'invalid'],
  ['one that has expired', ticket(NOW - 1), 'expired'],
  ['one of another secret that has expired', ticket(NOW - 1, other), 'invalid'],
  ['one that is good, for another asset', ticket(NOW + 60), 'invalid'],
])('%s', (_what, token, reason) => {
  expect(ticketReason([ours], { purpose: 'upload', token, now: NOW })).toBe(reason);
});

test('a ticket of another purpose does not tell its age', () => {
  expect(ticketReason([ours], { purpose: 'download', token: ticket(NOW - 1), now: NOW })).toBe('invalid');
});
