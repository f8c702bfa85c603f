// Authentication of the three webhooks, and their error messages (contract A5, B6).
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Secret } from '../../../service/src/auth/secret.ts';
import { deriveKey } from '../../../service/src/auth/signed-token.ts';
import { readConfig } from '../../../service/src/config.ts';
import { SECRETS, startTestService, type TestService } from '../../support/service.ts';
import {
  type Body,
  deliver,
  notProcessed,
  READY,
  refusedWith,
  signatureOf,
  TAKEN,
  PROVIDERS,
} from '../../support/providers/webhooks.ts';

const NOW = 1_700_000_000;
const NOT_CONFIGURED = refusedWith('not configured');
const WRONG = refusedWith('Invalid webhook signature');

/** Keys, bodies and signatures of the published vectors; the bodies byte for byte. */
const VECTORS = {
  cdnhost: {
    key: 'cdnhost-read-only-key',
    body: '{"VideoLibraryId":4242,"VideoGuid":"11112222-3333-4444-8555-666677778888","Status":3}',
    headers: {
      'x-bunnystream-signature': 'e40746eba5a525953f8039be78f9ff7ffde56ef0a9b6db559c6589574ffa3f39',
      'x-bunnystream-signature-version': 'v1',
      'x-bunnystream-signature-algorithm': 'hmac-sha256',
    },
  },
  edgehost: {
    key: 'edgehost-secret',
    body: '{"uid":"00112233445566778899aabbccddeeff","readyToStream":true,"status":{"state":"ready"}}',
    headers: {
      'webhook-signature': [
        `time=${NOW}`,
        'sig1=90d11adb96997976febf9894e43495787cd1ae1b15e14b556a22888834e54327',
      ].join(','),
    },
  },
  onprem: {
    key: 'onprem-secret',
    body: '{"asset_id":"11111111-2222-4333-8444-555555555555","status":"ready"}',
    headers: { 'x-onprem-signature': '5ae57f1811e9b99f7e450201b19e483a6e429a1732f9dd78c4fe90d29cf6710a' },
  },
} as const;

const UNSET = {
  CDNHOST_STREAM_READ_ONLY_API_KEY: undefined,
  EDGEHOST_STREAM_WEBHOOK_SECRET: undefined,
  ONPREM_WEBHOOK_SECRET: undefined,
};
const SET = {
  CDNHOST_STREAM_READ_ONLY_API_KEY: VECTORS.cdnhost.key,
  EDGEHOST_STREAM_WEBHOOK_SECRET: VECTORS.edgehost.key,
  ONPREM_WEBHOOK_SECRET: VECTORS.onprem.key,
};
const PREVIOUS = {
  CDNHOST_STREAM_READ_ONLY_API_KEY_PREVIOUS: 'previous-cdnhost',
  EDGEHOST_STREAM_WEBHOOK_SECRET_PREVIOUS: 'previous-edgehost',
  ONPREM_WEBHOOK_SECRET_PREVIOUS: 'previous-onprem',
};

let configured: TestService;
let unset: TestService;
let unsigned: TestService;
let clock = NOW;

beforeAll(async () => {
  const start = (environment: object) =>
    startTestService({ MEDIARY_ROLE: 'api', ...environment }, { now: () => new Date(clock * 1000) });
  configured = await start({ ...SET, ...PREVIOUS, WEBHOOKS_ALLOW_UNSIGNED: 'onprem,edgehost' });
  unset = await start(UNSET);
  unsigned = await start({ ...UNSET, WEBHOOKS_ALLOW_UNSIGNED: ' edgehost , onprem ' });
});
afterAll(() => Promise.all([configured, unset, unsigned].map((service) => service?.stop())));

describe.each(PROVIDERS)('the webhook of %s', (provider) => {
  const ready = () => READY[provider](randomUUID());
  const send = (headers: object, body: Body = ready(), service = configured) =>
    deliver(service, provider, { body, headers: headers as Record<string, string> });
  const sendSigned = (secret: string, body: Body = ready(), service = configured) =>
    send(signatureOf(provider, body, { secret, timeSeconds: clock }), body, service);

  test('accepts the published test vector', async () => {
    expect(await send(VECTORS[provider].headers, VECTORS[provider].body)).toEqual(TAKEN[provider]);
  });

  test('accepts the current and the previous secret', async () => {
    expect(await sendSigned(VECTORS[provider].key)).toEqual(TAKEN[provider]);
    expect(await sendSigned(`previous-${provider}`)).toEqual(TAKEN[provider]);
  });

  test('rejects a missing signature, even if other providers may be unsigned', async () => {
    expect(await send({})).toEqual(WRONG);
  });

  test('rejects a wrong secret, that of another provider, and an empty one', async () => {
    const others = PROVIDERS.filter((name) => name !== provider).map((name) => VECTORS[name].key);
    for (const secret of ['wrong', `${VECTORS[provider].key} `, ...others])
      expect(await sendSigned(secret)).toEqual(WRONG);
  });

  test('rejects the signature scheme of another provider', async () => {
    const body = ready();
    for (const name of PROVIDERS.filter((other) => other !== provider)) {
      expect(
        await send(signatureOf(name, body, { secret: VECTORS[provider].key, timeSeconds: clock }), body),
      ).toEqual(WRONG);
    }
  });

  test('rejects a modified body', async () => {
    const { body, headers } = VECTORS[provider];
    for (const changed of [
      `${body}\n`,
      ` ${body}`,
      body.replace('":', '": '),
      JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(body) as object).reverse())),
      '',
      '{}',
    ]) {
      expect(await send(headers, changed)).toEqual(WRONG);
    }
  });

  test('rejects a damaged signature', async () => {
    const damaged = Object.entries(VECTORS[provider].headers).flatMap(([name, value]) =>
      name.endsWith('signature')
        ? [value.slice(0, -1), `${value}0`, value.replace(/.$/, 'g'), '', '0'.repeat(64), 'null'].map(
            (bad) => ({ ...VECTORS[provider].headers, [name]: bad }),
          )
        : [],
    );
    expect(damaged).toHaveLength(6);
    for (const headers of damaged) expect(await send(headers, VECTORS[provider].body)).toEqual(WRONG);
  });

  test('responds "not configured" without its secret, signed or not', async () => {
    expect(await send({}, ready(), unset)).toEqual(NOT_CONFIGURED);
    for (const secret of [VECTORS[provider].key, 'undefined', 'null', ' '])
      expect(await sendSigned(secret, ready(), unset)).toEqual(NOT_CONFIGURED);
    expect(await send({}, 'not json', unset)).toEqual(NOT_CONFIGURED);
  });

  test('accepts unsigned calls only if the operator allows it, and never for cdnhost', async () => {
    const isShut = provider === 'cdnhost';
    expect(await send({}, ready(), unsigned)).toEqual(isShut ? NOT_CONFIGURED : TAKEN[provider]);
    expect(await sendSigned('anything', ready(), unsigned)).toEqual(
      isShut ? NOT_CONFIGURED : TAKEN[provider],
    );
    expect(await send({}, 'not json', unsigned)).toEqual(
      isShut ? NOT_CONFIGURED : refusedWith('Invalid webhook payload'),
    );
    expect(await send({}, '[]', unsigned)).toEqual(isShut ? NOT_CONFIGURED : notProcessed('not_actionable'));
  });
});

describe('the webhook of onprem', () => {
  test('always accepts the built-in encoder, by its internal secret', async () => {
    const body = JSON.stringify({ ...READY.onprem(randomUUID()), attempt: 1, run: 1 });
    for (const service of [configured, unset, unsigned]) {
      const own = deriveKey(service.adapters.urlSecrets[0] as Secret, 'encoder').reveal();
      expect(
        await deliver(service, 'onprem', { body, headers: signatureOf('onprem', body, { secret: own }) }),
      ).toEqual(TAKEN.onprem);
      expect(
        (await deliver(service, 'cdnhost', { body, headers: signatureOf('cdnhost', body, { secret: own }) }))
          .status,
      ).toBe(401);
    }
  });
});

describe('the time of an edgehost signature', () => {
  const sendAt = (timeSeconds: number) => {
    const body = READY.edgehost(randomUUID());
    return deliver(configured, 'edgehost', {
      body,
      headers: signatureOf('edgehost', body, { secret: VECTORS.edgehost.key, timeSeconds }),
    });
  };

  test.each([-300, -299, 0, 299, 300])('may differ by %d seconds', async (seconds) => {
    expect(await sendAt(NOW + seconds)).toEqual(TAKEN.edgehost);
  });

  test.each([-86_400, -301, 301, 86_400, NOW * 999])('may not differ by %d seconds', async (seconds) => {
    expect(await sendAt(NOW + seconds)).toEqual(WRONG);
  });

  test('is compared with the current time of the service', async () => {
    const body = READY.edgehost(randomUUID());
    const headers = signatureOf('edgehost', body, { secret: VECTORS.edgehost.key, timeSeconds: NOW });
    try {
      for (const [later, expected] of [
        [300, TAKEN.edgehost],
        [301, WRONG],
        [299, TAKEN.edgehost],
      ] as const) {
        clock = NOW + later;
        expect(await deliver(configured, 'edgehost', { body, headers })).toEqual(expected);
      }
    } finally {
      clock = NOW;
    }
  });
});

describe('unsigned webhooks', () => {
  const configOf = (environment: object) =>
    readConfig({ ...SECRETS, ...UNSET, ...environment }, (path) => path);
  const openDoors = (environment: object) =>
    configOf(environment).warnings.filter((warning) => warning.includes('accepts unsigned requests'));

  test.each(['cdnhost', 'onprem,cdnhost', 'all', '*', 'onprem edgehost', 'ONPREM'])(
    'cannot be allowed with "%s": the service does not start',
    (named) => {
      expect(() => configOf({ WEBHOOKS_ALLOW_UNSIGNED: named })).toThrow(
        'WEBHOOKS_ALLOW_UNSIGNED may name edgehost and onprem only',
      );
    },
  );

  test('cause a warning per provider at the start, only if its secret is unset', () => {
    expect(openDoors({ WEBHOOKS_ALLOW_UNSIGNED: 'onprem,edgehost' })).toEqual([
      expect.stringContaining('edgehost'),
      expect.stringContaining('onprem'),
    ]);
    expect(openDoors({ WEBHOOKS_ALLOW_UNSIGNED: 'onprem,edgehost', ...SET })).toEqual([]);
    expect(openDoors({ WEBHOOKS_ALLOW_UNSIGNED: '' })).toEqual([]);
    expect(openDoors({})).toEqual([]);
  });
});
