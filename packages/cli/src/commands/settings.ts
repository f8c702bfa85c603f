// `settings`: the settings of the service, with defaults and meanings. Needs no service.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Handler, Runner } from '../context.ts';
import { CliError, EXIT } from '../exit-codes.ts';

/** Of the release that the command belongs to. */
type ServiceSetting = {
  readonly group: string;
  readonly name: string;
  readonly type: string;
  readonly default: string;
  readonly allowed: string | null;
  /** Markdown. */
  readonly about: string;
  readonly rotated: boolean;
};

export const addSettingsCommand = (program: Command, run: Runner): Command =>
  program
    .command('settings')
    .description('List the settings of the service: names, defaults and meanings')
    .argument('[text]', 'part of a name or of a meaning')
    .action(run(listSettings));

const listSettings: Handler = async ({ output }, [text = '']) => {
  const items = findSettings(text.toLowerCase());
  if (items.length === 0) throw new CliError(`No setting contains "${text}".`, EXIT.notFound);
  output.result({ items }, () => formatSettings(items));
};

/** Where no name contains the text, those whose meaning does. */
function findSettings(wanted: string): ServiceSetting[] {
  const all = readSettings();
  const named = all.filter(({ name }) => name.toLowerCase().includes(wanted));
  return named.length > 0 ? named : all.filter(({ about }) => about.toLowerCase().includes(wanted));
}

const readSettings = (): ServiceSetting[] =>
  JSON.parse(readFileSync(new URL('../settings/service-settings.json', import.meta.url), 'utf8'));

function formatSettings(items: readonly ServiceSetting[]): string {
  const groups = [...new Set(items.map(({ group }) => group))];
  return groups
    .map((group) => [group, ...items.filter((item) => item.group === group).map(formatSetting)].join('\n'))
    .join('\n\n');
}

const formatSetting = ({ name, default: byDefault, about, allowed }: ServiceSetting): string =>
  [
    `  ${name}  (default: ${toText(byDefault)})`,
    `      ${toText(about)}${allowed === null ? '' : ` Allowed: ${toText(allowed)}.`}`,
  ].join('\n');

/** Without the marks of Markdown; a link becomes the path of its page. */
const toText = (markdown: string): string =>
  markdown
    .replace(/\[guide\]\(([^)#]+)[^)]*\)/g, 'docs/$1')
    .replace(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replaceAll('`', '');
