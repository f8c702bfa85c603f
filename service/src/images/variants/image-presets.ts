// IMAGE_PRESETS: variants of images that the operator has named.
import { createImageEditReader } from '@mediary/contract/image-edits';
import type { Setting } from '../../platform/settings/setting.ts';
import type { VariantQuery } from './image-variant.ts';

type ImagePresets = ReadonlyMap<string, VariantQuery>;

const MAX_PRESETS = 100;
const PRESET = /^([a-z0-9_-]{1,32})\?(.+)$/;

export const imagePresetsSetting: Setting<ImagePresets> = {
  name: 'IMAGE_PRESETS',
  type: 'text',
  about:
    'Variants of images that need no signature, as in ' +
    '`hero?w=1600&h=600&fit=cover; face?w=96&h=96&fit=cover&gravity=attention` ' +
    '([guide](guides/images.md#presets)).',
  byDefault: 'none',
  allowed: `at most ${MAX_PRESETS}`,
  parse: ({ given }, report) => (given === undefined ? new Map() : parsePresets(given, report)),
};

function parsePresets(given: string, report: (problem: string) => void): ImagePresets {
  const readEdits = createImageEditReader();
  const presets = new Map<string, VariantQuery>();
  for (const text of given.split(';').map((part) => part.trim())) {
    if (text === '') continue;
    const [, name, parameters = ''] = PRESET.exec(text) ?? [];
    if (name === undefined) {
      report(`IMAGE_PRESETS: "${text}" is no name and parameters, as in hero?w=1600`);
      continue;
    }
    if (presets.has(name)) report(`IMAGE_PRESETS: "${name}" is named twice`);
    const read = readEdits(parameters);
    if ('edits' in read) presets.set(name, read.edits);
    else report(`IMAGE_PRESETS: ${name}: ${read.problem}`);
  }
  if (presets.size > MAX_PRESETS) report(`IMAGE_PRESETS must name at most ${MAX_PRESETS}`);
  return presets;
}
