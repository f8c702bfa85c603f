// LADDER: the heights, bit rates, quality and presets of renditions, as a JSON object.
import { CODECS, type Codec, type CodecOptions } from './model/codecs.ts';
import { DEFAULT_LADDER, type Ladder, type LadderRung } from './plan/ladder/ladder.ts';
import { parseJsonObject } from '../platform/values/strict-json.ts';
import type { Setting } from '../platform/settings/setting.ts';

type Report = (problem: string) => void;
type Range = { readonly min: number; readonly max: number };

const MEMBERS = ['max_height', 'rungs', ...CODECS] as const;
const RUNG_MEMBERS = ['height', 'max_kbps', 'profile'] as const;
const CODEC_MEMBERS = ['crf', 'preset'] as const;

const HEIGHT: Range = { min: 144, max: 2160 };
const KILOBITS: Range = { min: 50, max: 100_000 };
/** All rungs of a codec are encoded in parallel, so each needs memory. */
const MAX_RUNGS = 8;
const PROFILES = ['high', 'main'] as const;
/** Slower presets would not end within the time limit of a run on slow machines. */
const X26X_PRESETS = ['ultrafast', 'superfast', 'veryfast', 'faster', 'fast', 'medium', 'slow'];
const CODEC_RULES: Readonly<Record<Codec, { readonly crf: Range; readonly presets: readonly string[] }>> = {
  h264: { crf: { min: 15, max: 35 }, presets: X26X_PRESETS },
  av1: { crf: { min: 20, max: 55 }, presets: ['4', '5', '6', '7', '8', '9', '10', '11', '12'] },
  hevc: { crf: { min: 15, max: 38 }, presets: X26X_PRESETS },
};

export const ladderSetting: Setting<Ladder> = {
  name: 'LADDER',
  type: 'json',
  about:
    'Heights, bit rates, quality and presets of the renditions, as a JSON object such as ' +
    '`{"max_height": 2160}` ([guide](guides/renditions.md)).',
  byDefault: '1080p to 240p in H.264',
  parse: ({ given }, report) => (given === undefined ? DEFAULT_LADDER : parseLadder(given, report)),
};

function parseLadder(given: string, report: Report): Ladder {
  const object = parseJsonObject(new TextEncoder().encode(given));
  if (!object) {
    report('LADDER must be a JSON object without duplicate names, such as {"max_height": 720}');
    return DEFAULT_LADDER;
  }
  const fields = createFields(report);
  const ladder = fields.members('LADDER', object, MEMBERS);
  const { max_height: maxHeight = DEFAULT_LADDER.maxHeight, rungs } = ladder;
  return {
    rungs: rungs === undefined ? DEFAULT_LADDER.rungs : readRungs(fields, rungs),
    maxHeight: fields.integer('LADDER.max_height', maxHeight, HEIGHT),
    extraCodecs: [],
    hdrCodecs: [],
    audioPassthrough: [],
    options: {
      h264: readCodecOptions(fields, 'h264', ladder.h264),
      av1: readCodecOptions(fields, 'av1', ladder.av1),
      hevc: readCodecOptions(fields, 'hevc', ladder.hevc),
    },
  };
}

function readRungs(fields: Fields, given: unknown): readonly LadderRung[] {
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_RUNGS) {
    fields.reject('LADDER.rungs', `must be a list of 1 to ${MAX_RUNGS} objects`);
    return DEFAULT_LADDER.rungs;
  }
  const rungs = given.map((item: unknown, index) => readRung(fields, `LADDER.rungs[${index}]`, item));
  rungs.forEach((rung, index) => {
    const above = rungs[index - 1];
    if (!above) return;
    if (rung.height >= above.height)
      fields.reject(
        `LADDER.rungs[${index}].height`,
        `must be less than ${above.height}, the height above it`,
      );
    if (rung.maxKilobits > above.maxKilobits)
      fields.reject(`LADDER.rungs[${index}].max_kbps`, `must be at most ${above.maxKilobits}, as above it`);
  });
  return rungs;
}

function readRung(fields: Fields, path: string, item: unknown): LadderRung {
  const { height, max_kbps: kilobits, profile = 'high' } = fields.members(path, item, RUNG_MEMBERS);
  return {
    height: fields.integer(`${path}.height`, height, HEIGHT),
    maxKilobits: fields.integer(`${path}.max_kbps`, kilobits, KILOBITS),
    profile: fields.oneOf(`${path}.profile`, profile, PROFILES),
  };
}

function readCodecOptions(fields: Fields, codec: Codec, given: unknown): CodecOptions {
  const defaults = DEFAULT_LADDER.options[codec];
  const { crf: ranges, presets } = CODEC_RULES[codec];
  const path = `LADDER.${codec}`;
  const { crf = defaults.crf, preset = defaults.preset } = fields.members(path, given ?? {}, CODEC_MEMBERS);
  return {
    crf: fields.integer(`${path}.crf`, crf, ranges),
    preset: fields.oneOf(`${path}.preset`, typeof preset === 'number' ? String(preset) : preset, presets),
  };
}

/** Each method checks one field. For an invalid value it reports a problem and returns an allowed value. */
type Fields = {
  reject(path: string, rule: string): void;
  members<const N extends string>(
    path: string,
    given: unknown,
    allowed: readonly N[],
  ): { [name in N]?: unknown };
  integer(path: string, given: unknown, range: Range): number;
  oneOf<T extends string>(path: string, given: unknown, choices: readonly T[]): T;
};

function createFields(report: Report): Fields {
  const reject = (path: string, rule: string): void => report(`${path} ${rule}`);
  return {
    reject,
    members(path, given, allowed) {
      if (typeof given !== 'object' || given === null || Array.isArray(given)) {
        reject(path, 'must be an object');
        return {};
      }
      const known: readonly string[] = allowed;
      for (const name of Object.keys(given).filter((each) => !known.includes(each)))
        reject(`${path}.${name}`, `is unknown. Allowed: ${allowed.join(', ')}`);
      return given;
    },
    integer(path, given, { min, max }) {
      if (Number.isInteger(given) && Number(given) >= min && Number(given) <= max) return Number(given);
      reject(path, `must be a whole number from ${min} to ${max}`);
      return min;
    },
    oneOf<T extends string>(path: string, given: unknown, choices: readonly T[]) {
      const chosen = choices.find((choice) => choice === given);
      if (chosen === undefined) reject(path, `must be one of ${choices.join(', ')}`);
      return chosen ?? (choices[0] as T);
    },
  };
}
