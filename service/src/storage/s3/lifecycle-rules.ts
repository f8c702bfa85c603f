// The lifecycle rule that removes unfinished uploads, beside the rules that a bucket has.
import type { LifecycleRule } from '@aws-sdk/client-s3';

const RULE_ID = 'remove-unfinished-uploads';
const DAYS = 7;

/** Whether a rule reaches every upload below `prefix`: a rule with further conditions does not. */
export const removesUnfinishedUploads = (rules: readonly LifecycleRule[], prefix: string): boolean =>
  rules.some(
    (rule) =>
      rule.Status === 'Enabled' &&
      rule.AbortIncompleteMultipartUpload !== undefined &&
      isUnconditional(rule) &&
      prefix.startsWith(prefixOf(rule)),
  );

/** Older rules have their prefix beside the filter. */
const prefixOf = ({ Filter, Prefix }: LifecycleRule): string => Filter?.Prefix ?? Prefix ?? '';

const isUnconditional = ({ Filter = {} }: LifecycleRule): boolean =>
  Object.entries(Filter).every(([name, value]) => name === 'Prefix' || value === undefined);

/**
 * The whole configuration, because a store replaces the rules that it has. An empty prefix would end the
 * uploads of everybody who shares the bucket.
 */
export const addUnfinishedUploadsRule = (rules: readonly LifecycleRule[], prefix: string) => ({
  Rules: [
    ...rules.filter(({ ID }) => ID !== RULE_ID),
    {
      ID: RULE_ID,
      Status: 'Enabled' as const,
      Filter: { Prefix: prefix },
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: DAYS },
    },
  ],
});
