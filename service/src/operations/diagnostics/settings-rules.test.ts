// Settings that are valid, but risky in production.
import { expect, test } from 'vitest';
import { toSecret } from '../../auth/secret.ts';
import { isLoopbackHost } from '../../platform/outbound/private-address.ts';
import { judgeSettings } from './settings-rules.ts';

const secret = [toSecret('0123456789abcdef0123456789abcdef')];
const SAFE = {
  tokenSecrets: secret,
  serviceKeys: secret,
  operatorKeys: secret,
  urlSecrets: { current: undefined, previous: undefined },
  databaseUrl: 'postgres://db.internal/mediary',
  publicBaseUrl: 'https://media.example.com',
  host: '127.0.0.1',
  allowUnsigned: [],
  outboundAllowPrivate: [],
  warnings: [],
};

const troubles = (changed: Partial<Parameters<typeof judgeSettings>[0]>) =>
  judgeSettings({ ...SAFE, ...changed }, { isLoopbackHost })
    .filter(({ status }) => status !== 'ok')
    .map(({ check, status }) => `${check} ${status}`);

test('safe settings have no findings', () => {
  expect(troubles({})).toEqual([]);
  expect(troubles({ publicBaseUrl: undefined, databaseUrl: undefined })).toEqual([]);
  expect(troubles({ publicBaseUrl: 'http://localhost:8080' })).toEqual([]);
});

test.each([
  [{ serviceKeys: [...secret, toSecret('short')] }, 'settings.secrets warning'],
  [{ urlSecrets: { current: secret[0], previous: toSecret('short') } }, 'settings.secrets warning'],
  [{ publicBaseUrl: 'http://media.example.com' }, 'settings.public_url problem'],
  [{ publicBaseUrl: undefined, host: '0.0.0.0' }, 'settings.public_url problem'],
  [{ databaseUrl: undefined }, 'settings.embedded_database warning'],
  [{ allowUnsigned: ['onprem'] }, 'settings.unsigned_webhooks warning'],
  [{ outboundAllowPrivate: ['import'] }, 'settings.private_outbound warning'],
  [{ warnings: ['PROT is unknown'] }, 'settings.start_warnings warning'],
])('%j is a finding', (changed, finding) => {
  expect(troubles(changed)).toEqual([finding]);
});

test('no finding contains a secret', () => {
  const findings = judgeSettings({ ...SAFE, serviceKeys: [toSecret('tiny-key')] }, { isLoopbackHost });
  expect(JSON.stringify(findings)).not.toContain('tiny-key');
});
