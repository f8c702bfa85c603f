// Each function of the SDK names an operation that exists, and no two name the same one.
import { OPERATIONS } from '@mediary/contract/operations';
import { expect, test } from 'vitest';
import { findSdkCall, OPERATION_CALLS } from './operation-calls.ts';

const called = Object.values(OPERATION_CALLS).flatMap((call) => call?.[0] ?? []);

test('each function of the SDK calls an operation of its own, or none', () => {
  expect(new Set(called).size).toBe(called.length);
  expect(called.filter((id) => !OPERATIONS.some((operation) => operation.id === id))).toEqual([]);
  expect(called.length).toBeGreaterThan(45);
});

test('an operation is found with the arguments of its function', () => {
  expect(findSdkCall('moveCollectionItem')).toEqual({
    name: 'collections.move',
    arguments: ['id', 'asset_id', 'body'],
  });
  expect(findSdkCall('putUpload')).toBeUndefined();
});
