// Which webhook endpoints are findings, and what the findings show of them.
import { expect, test } from 'vitest';
import { judgePaused, judgeReachability } from './webhook-rules.ts';

const endpoint = {
  id: '019aab7c-2222-7c55-9f0e-000000000001',
  url: 'https://app.example.com:8443/in?key=s3cret',
};
const judge = (failure: string | undefined) =>
  judgeReachability({ probed: [{ ...endpoint, failure }], enabled: 30 });

test.each([
  [undefined, 'ok', undefined],
  ['dns_failed: ENOTFOUND', 'problem', 'host of the URL'],
  ['connect_failed: ECONNREFUSED', 'problem', 'Start the receiver'],
  ['tls_failed: CERT_HAS_EXPIRED', 'problem', 'certificate'],
  ['address_refused: private_address', 'problem', 'OUTBOUND_ALLOW_PRIVATE'],
  ['timeout: connect', 'problem', 'firewalls'],
  ['timeout: head', 'warning', 'WEBHOOK_ENDPOINT_TIMEOUT_S'],
  ['connection_lost', 'warning', '/test'],
])('an endpoint whose probe ends with %s is %s', (failure, status, fix) => {
  const finding = judge(failure);
  expect(finding).toMatchObject({ status, details: { enabled: 30, checked: 1 } });
  if (fix !== undefined) expect(finding.fix).toContain(fix);
  if (failure !== undefined) expect(finding.message).toContain(`app.example.com:8443 (${failure})`);
  expect(JSON.stringify(finding)).not.toContain('s3cret');
});

test('one endpoint that cannot be reached outweighs others that respond late', () => {
  const failures = ['timeout: head', 'dns_failed: ENOTFOUND'];
  const probed = failures.map((failure) => ({ ...endpoint, failure }));
  expect(judgeReachability({ probed, enabled: 2 }).status).toBe('problem');
  expect(judgeReachability({ probed: [], enabled: 0 }).status).toBe('ok');
});

test('paused endpoints are warnings that name the reason and the fix', () => {
  expect(judgePaused({ endpoints: [], paused: 0 }).status).toBe('ok');
  const finding = judgePaused({ endpoints: [{ ...endpoint, paused_reason: 'gone' }], paused: 1 });
  expect(finding).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('app.example.com:8443 (responded with 410)'),
    fix: expect.stringContaining('"enabled": true'),
    details: { endpoints: [{ id: endpoint.id, host: 'app.example.com:8443', reason: 'gone' }] },
  });
  expect(JSON.stringify(finding)).not.toContain('s3cret');
});
