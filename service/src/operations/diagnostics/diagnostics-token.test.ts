// Tokens and proofs of the diagnostics.
import { expect, test } from 'vitest';
import { toSecret } from '../../auth/secret.ts';
import { deriveKey, signToken } from '../../auth/signed-token.ts';
import {
  deploymentOf,
  isProofOf,
  issueDiagnosticsToken,
  parseDiagnosticsToken,
  signProof,
} from './diagnostics-token.ts';

const [current, previous, other] = ['current', 'previous', 'other'].map(toSecret) as [
  ReturnType<typeof toSecret>,
  ReturnType<typeof toSecret>,
  ReturnType<typeof toSecret>,
];
const token = { nonce: 'a-nonce', expires: 1_800_000_000 };

test('a token is read by every process with the secret, also during its rotation', () => {
  const text = issueDiagnosticsToken([previous], token);
  expect(parseDiagnosticsToken([current, previous], text)).toEqual(token);
  expect(parseDiagnosticsToken([other], text)).toBeUndefined();
});

test('a proof is no token, and proves one nonce', () => {
  const proof = signProof([current], 'a-nonce');
  expect(isProofOf([current], 'a-nonce', proof)).toBe(true);
  expect(isProofOf([current], 'another', proof)).toBe(false);
  expect(parseDiagnosticsToken([current], proof)).toBeUndefined();
  expect(isProofOf([current], 'a-nonce', issueDiagnosticsToken([current], token))).toBe(false);
});

test('a signed URL of uploads is no token', () => {
  expect(
    parseDiagnosticsToken([current], signToken(deriveKey(current, 'upload'), 'token:1:x')),
  ).toBeUndefined();
});

test('a deployment has one name, which does not show the secret', () => {
  expect(deploymentOf([current])).toMatch(/^[0-9a-f]{12}$/);
  expect(deploymentOf([current])).toBe(deploymentOf([current, previous]));
  expect(deploymentOf([current])).not.toBe(deploymentOf([other]));
});
