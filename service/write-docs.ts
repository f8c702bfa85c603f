// Writes docs/settings.md and the settings of the command line: part of `npm run docs`.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderSettingsList, renderSettingsPage } from './settings-page.ts';
import { listSettingGroups } from './src/config.ts';

const ROOT = join(import.meta.dirname, '..');

writeFileSync(join(ROOT, 'docs/settings.md'), renderSettingsPage(listSettingGroups()));
writeFileSync(
  join(ROOT, 'packages/cli/src/settings/service-settings.json'),
  renderSettingsList(listSettingGroups()),
);
