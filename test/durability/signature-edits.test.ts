// A million small edits of a valid signature for each of the three providers: all are rejected (contract A5,
// B6).
import type { KnownProvider } from '../support/providers/webhooks.ts';
import { describe, expect, test } from 'vitest';
import { toSecret } from '../../service/src/auth/secret.ts';
import {
  checkCdnhostSignature,
  signCdnhost,
} from '../../service/src/providers/cdnhost/cdnhost-signatures.ts';
import {
  checkEdgehostSignature,
  signEdgehost,
} from '../../service/src/providers/edgehost/edgehost-signatures.ts';
import { checkOnpremSignature, signOnprem } from '../../service/src/providers/onprem/onprem-signature.ts';
import { randomEdits } from '../support/assets/random-edits.ts';

const EDITS = 1_000_000;
const NOW = 1_700_000_000;
const BODY = Buffer.from('{"status":"ready"}');
const key = toSecret('a-secret-of-some-length-0123456789');
const secrets = [key];

type Door = {
  readonly good: string;
  readonly opens: (signature: string) => boolean;
  /**
   * What may differ from the good one and still says the same: the case of a digit, members of a header that
   * are not read.
   */
  readonly isSame: (signature: string) => boolean;
};

const [cdnhost, onprem, edgehost] = [
  signCdnhost(BODY, key),
  signOnprem(BODY, key),
  signEdgehost(BODY, key, NOW),
];
const [time = '', digest = ''] = edgehost.split(',');

const DOORS: Readonly<Record<KnownProvider, Door>> = {
  cdnhost: {
    good: cdnhost,
    opens: (text) =>
      checkCdnhostSignature((name) => (name === 'x-cdnhost-signature' ? [text] : []), BODY, secrets),
    isSame: (text) => text.toLowerCase() === cdnhost,
  },
  onprem: {
    good: onprem,
    opens: (text) =>
      checkOnpremSignature((name) => (name === 'x-onprem-signature' ? [text] : []), BODY, secrets),
    isSame: (text) => text.toLowerCase() === onprem,
  },
  edgehost: {
    good: edgehost,
    opens: (text) =>
      checkEdgehostSignature(() => [text], BODY, { secrets, nowSeconds: NOW, toleranceSeconds: 300 }),
    isSame: (text) => {
      const members = text.split(',').map((member) => member.trim());
      return members.includes(time) && members.some((member) => member.toLowerCase() === digest);
    },
  },
};

describe.each(Object.entries(DOORS))('%s', (_, { good, opens, isSame }) => {
  test('accepts the signature and rejects a million edits of it', () => {
    expect(opens(good)).toBe(true);
    let tried = 0;
    for (const edited of randomEdits(good, { count: EDITS, seed: 20_260_101 })) {
      if (opens(edited) && !isSame(edited)) expect.fail(JSON.stringify(edited));
      tried += 1;
    }
    expect(tried).toBeGreaterThan(EDITS * 0.9);
  });
});
