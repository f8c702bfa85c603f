// Options for the access rules of an asset: its sites, networks and countries, and whether it is downloaded.
import type { AccessRules } from '@mediary/client';
import type { Command } from 'commander';
import { collect } from './arguments.ts';

export type AccessFlags = {
  readonly allowSite?: string[];
  readonly allowNoReferrer?: boolean;
  readonly allowNetwork?: string[];
  readonly allowCountry?: string[];
  readonly forbidDownloads?: boolean;
};

export const addAccessOptions = (command: Command): Command =>
  command
    .option('--allow-site <host>', 'site whose pages may play it, such as *.example.com; repeatable', collect)
    .option('--allow-no-referrer', 'with --allow-site: also native apps and pages that name no site')
    .option('--allow-network <cidr>', 'network of viewers, such as 203.0.113.0/24; repeatable', collect)
    .option('--allow-country <code>', 'country of viewers, such as DE; repeatable', collect)
    .option('--forbid-downloads', 'no MP4 and M4A files, and no download URLs for users');

/** Undefined if no option sets a rule. */
export function toAccess(flags: AccessFlags): AccessRules | undefined {
  const { allowSite, allowNoReferrer, allowNetwork, allowCountry, forbidDownloads } = flags;
  const access: AccessRules = {
    ...(allowSite && { referrers: allowSite }),
    ...(allowNoReferrer && { allow_no_referrer: true }),
    ...(allowNetwork && { networks: allowNetwork }),
    ...(allowCountry && { countries: allowCountry }),
    ...(forbidDownloads && { downloads: false }),
  };
  return Object.keys(access).length > 0 ? access : undefined;
}
