// Tests the lifecycle rule for unfinished uploads in a bucket that others share.
import type { LifecycleRule } from '@aws-sdk/client-s3';
import { describe, expect, test } from 'vitest';
import { addUnfinishedUploadsRule, removesUnfinishedUploads } from './lifecycle-rules.ts';

const OTHER: LifecycleRule = {
  ID: 'expire-logs',
  Status: 'Enabled',
  Filter: { Prefix: 'logs/' },
  Expiration: { Days: 30 },
};
const ruleFor = (members: Partial<LifecycleRule>): LifecycleRule => ({
  ID: 'own',
  Status: 'Enabled',
  AbortIncompleteMultipartUpload: { DaysAfterInitiation: 7 },
  ...members,
});

describe('removesUnfinishedUploads', () => {
  test.each([
    ['the whole bucket', ruleFor({ Filter: { Prefix: '' } }), true],
    ['the whole bucket, in the old form', ruleFor({ Prefix: '' }), true],
    ['no filter', ruleFor({}), true],
    ['the prefix', ruleFor({ Filter: { Prefix: 'media/' } }), true],
    ['another prefix', ruleFor({ Filter: { Prefix: 'logs/' } }), false],
    ['a part of the prefix', ruleFor({ Filter: { Prefix: 'media/old/' } }), false],
    ['objects with a tag', ruleFor({ Filter: { Tag: { Key: 'a', Value: 'b' } } }), false],
    ['a rule that is off', ruleFor({ Status: 'Disabled' }), false],
    ['a rule that does something else', OTHER, false],
  ])('by a rule for %s', (_name, rule, expected) => {
    expect(removesUnfinishedUploads([rule], 'media/')).toBe(expected);
  });
});

describe('addUnfinishedUploadsRule', () => {
  test('has the prefix of the store, and keeps the rules of the bucket', () => {
    const { Rules } = addUnfinishedUploadsRule([OTHER], 'media/');
    expect(Rules).toEqual([OTHER, expect.objectContaining({ Filter: { Prefix: 'media/' } })]);
    expect(removesUnfinishedUploads(Rules, 'media/')).toBe(true);
    expect(removesUnfinishedUploads(Rules, 'photos/')).toBe(false);
  });

  test('replaces the rule of an earlier check', () => {
    const { Rules } = addUnfinishedUploadsRule([OTHER], '');
    expect(addUnfinishedUploadsRule(Rules, 'media/').Rules).toHaveLength(2);
  });
});
