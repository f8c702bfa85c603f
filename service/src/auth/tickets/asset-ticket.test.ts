// Tests that a ticket opens one asset for one purpose until it expires (contract B4, B5).
import { describe, expect, test } from 'vitest';
import { isValidTicket, issueTicket, ticketReason } from './asset-ticket.ts';
import { toSecret } from '../secret.ts';

const NOW = 1_700_000_000;
const [ours, other] = [toSecret('url-signing-secret-0123456789'), toSecret('another-secret-0123456789-0123')];
const ticket = (expires: number, by = ours) => issueTicket([by], 'upload', { assetId: 'a', expires });

test.each([
  ['nothing', '', 'missing'],
  ['a text of its own', 'nonsense', 'invalid_credential'],
  ['one that has expired', ticket(NOW - 1), 'expired'],
  ['one that expires now', ticket(NOW), 'expired'],
  ['one of another secret that has expired', ticket(NOW - 1, other), 'invalid_credential'],
  ['one that is good, for another asset', ticket(NOW + 60), 'invalid_credential'],
])('%s', (_what, token, reason) => {
  expect(ticketReason([ours], { purpose: 'upload', token, now: NOW })).toBe(reason);
});

test('a ticket of another purpose does not tell its age', () => {
  expect(ticketReason([ours], { purpose: 'download', token: ticket(NOW - 1), now: NOW })).toBe(
    'invalid_credential',
  );
});

const SECRETS = [toSecret('a signing secret of this test 0123456789')];
const assetId = '01900000-0000-7000-8000-00000000000a';
const EXPIRES = 1_800_000_000;
const now = EXPIRES - 1;

const upload = (more = {}) => issueTicket(SECRETS, 'upload', { assetId, expires: EXPIRES, ...more });
const download = (more = {}) => issueTicket(SECRETS, 'download', { assetId, expires: EXPIRES, ...more });
const isGood = (ticket: string, more = {}, kind: 'upload' | 'download' = 'upload') =>
  isValidTicket(SECRETS, kind, { ticket, assetId, now, ...more });

describe('a ticket', () => {
  test('is valid for its asset, in either case of its id', () => {
    expect(isGood(upload())).toBe(true);
    expect(isGood(upload(), { assetId: assetId.toUpperCase() })).toBe(true);
    expect(isGood(upload(), { assetId: assetId.replace('a', 'b') })).toBe(false);
  });
  test('expires at its time', () => {
    expect(isGood(upload(), { now: EXPIRES - 0.001 })).toBe(true);
    expect(isGood(upload(), { now: EXPIRES })).toBe(false);
  });
  test('is valid for its purpose alone', () => {
    expect(isGood(upload(), {}, 'download')).toBe(false);
    expect(isGood(download(), {}, 'download')).toBe(true);
  });
  test('survives the rotation of the secret, and not its removal', () => {
    const next = toSecret('the next signing secret of this test 01234');
    const presented = { ticket: upload(), assetId, now };
    expect(isValidTicket([next, ...SECRETS], 'upload', presented)).toBe(true);
    expect(isValidTicket([next], 'upload', presented)).toBe(false);
  });
  test('that nobody signed is not valid', () => {
    for (const ticket of ['', 'x', assetId]) expect(isGood(ticket)).toBe(false);
  });
  test('is not issued without a secret', () => {
    expect(() => issueTicket([], 'upload', { assetId, expires: EXPIRES })).toThrow('no URL signing secret');
  });
});

test('an upload ticket is valid for its attempt', () => {
  expect(isGood(upload({ attempt: 2 }), { attempt: 2 })).toBe(true);
  expect(isGood(upload({ attempt: 2 }), { attempt: 1 })).toBe(false);
  expect(isGood(upload({ attempt: 2 }), { attempt: 3 })).toBe(false);
  expect(isGood(upload(), { attempt: 1 })).toBe(false);
  expect(isGood(upload(), { attempt: 2 })).toBe(false);
  expect(isGood(upload({ attempt: 2 }))).toBe(true);
});

test('a download ticket tells whether a service key asked for it', () => {
  const [service, user] = [true, false].map((isForService) => download({ playbackVersion: 3, isForService }));
  const expected = { playbackVersion: 3, isForService: true };
  expect([service, user].map((ticket = '') => isGood(ticket, expected, 'download'))).toEqual([true, false]);
  expect(isGood(service ?? '', { playbackVersion: 3 }, 'download')).toBe(true);
});

test('a download ticket ends with the playback version', () => {
  const ticket = download({ playbackVersion: 3 });
  expect(isGood(ticket, { playbackVersion: 3 }, 'download')).toBe(true);
  expect(isGood(ticket, { playbackVersion: 4 }, 'download')).toBe(false);
  expect(isGood(ticket, {}, 'download')).toBe(true);
  expect(isGood(download(), { playbackVersion: 1 }, 'download')).toBe(false);
});
