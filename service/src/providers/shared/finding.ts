// Findings of a check of a provider's settings. A setting is `ok` only if the check used it.
import type { SettingFinding } from '../provider.ts';

export const ok = (setting: string, detail: string): SettingFinding => ({ setting, result: 'ok', detail });

/** `detail` says what is wrong and what to do. */
export const problem = (setting: string, detail: string): SettingFinding => ({
  setting,
  result: 'problem',
  detail,
});

/** `detail` says why. */
export const notChecked = (setting: string, detail: string): SettingFinding => ({
  setting,
  result: 'not checked',
  detail,
});

/** The statuses of a file that needs a token, or another one. */
export const isRefused = (status: number): boolean => status === 401 || status === 403;

/** The settings that were not checked, because the API could not be used. */
export const notCheckedWithout = (settings: readonly string[], needed: string): SettingFinding[] =>
  settings.map((setting) => notChecked(setting, `needs ${needed}, which does not work`));
