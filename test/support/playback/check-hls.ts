// Lists the violations of RFC 8216bis in the playlists of one video, from their text alone.
import type { TrackState } from './check-media-playlist.ts';
import {
  checkHead,
  checkIndependence,
  checkMediaPlaylist,
  checkTargets,
  type Rates,
  ratesOf,
  segmentsOf,
} from './check-media-playlist.ts';

/** Name → text of each playlist, and name → bytes of each other file; names as the playlists write them. */
export type HlsFiles = {
  readonly multivariant: string;
  readonly playlists: ReadonlyMap<string, string>;
  readonly sizes: ReadonlyMap<string, number>;
};

type Attributes = Readonly<Record<string, string>>;
type Variant = { readonly attributes: Attributes; readonly uri: string };

/** Bit rates of a growing video are not compared: those of its later segments are unknown. */
export function checkHls(
  { multivariant, playlists, sizes }: HlsFiles,
  state: TrackState = 'complete',
): string[] {
  const variants = variantsOf(multivariant);
  const [pictures, sounds] = [variants.filter(hasPictures), variants.filter((each) => !hasPictures(each))];
  const media = tagsOf(multivariant, 'EXT-X-MEDIA');
  const steering = tagsOf(multivariant, 'EXT-X-CONTENT-STEERING');
  const captions = media.flatMap(({ TYPE, URI = '' }) => (TYPE === 'SUBTITLES' ? URI : []));
  const rates = new Map([...playlists].map(([name, text]) => [name, ratesOf(name, text, sizes)]));
  return [
    ...checkHead('multivariant', multivariant),
    ...checkIndependence('multivariant', multivariant),
    ...(variants.length === 0 ? ['multivariant: no variants'] : []),
    ...variants.flatMap(({ attributes }, index) => checkVariant(attributes, index)),
    ...checkTogether(variants, pictures),
    ...checkSoundLast(variants, sounds),
    ...checkSteering(steering, variants),
    ...checkRanges(pictures, tagsOf(multivariant, 'EXT-X-I-FRAME-STREAM-INF')),
    ...checkGroups(media, variants),
    ...[...variants.map(({ uri }) => uri), ...media.flatMap(({ URI = '' }) => URI)]
      .filter((uri) => !playlists.has(uri))
      .map((uri) => `multivariant: ${uri} does not exist`),
    ...(state === 'complete' ? variants.flatMap((variant) => checkRates(variant, media, rates)) : []),
    ...[...playlists].flatMap(([name, text]) =>
      checkMediaPlaylist({ name, text, kind: captions.includes(name) ? 'captions' : 'tracks' }, sizes, state),
    ),
    ...checkAlignment(pictures, playlists),
    ...checkTargets([...playlists].filter(([name]) => !captions.includes(name))),
  ];
}

const REQUIRED: readonly (readonly [name: string, form: RegExp])[] = [
  ['BANDWIDTH', /^[1-9]\d*$/],
  ['AVERAGE-BANDWIDTH', /^[1-9]\d*$/],
  ['CODECS', /^[a-z0-9]{4}\.[\w.]+(?:,(?:[a-z0-9]{4}\.[\w.]+|[ae]c-3))*$/i],
  ['RESOLUTION', /^[1-9]\d*x[1-9]\d*$/],
  ['FRAME-RATE', /^\d+\.\d{1,3}$/],
];

function checkVariant(attributes: Attributes, index: number): string[] {
  const isAwaited = attributes['PATHWAY-ID'] !== undefined && attributes['AVERAGE-BANDWIDTH'] === undefined;
  const absent = [
    ...(isAwaited ? ['AVERAGE-BANDWIDTH'] : []),
    ...(hasPictures({ attributes, uri: '' }) ? [] : ['RESOLUTION', 'FRAME-RATE']),
  ];
  const required = REQUIRED.filter(([name]) => !absent.includes(name));
  const wrong = required.filter(([name, form]) => !form.test(attributes[name] ?? ''));
  const range = rangeOf(attributes);
  return [
    ...wrong.map(([name]) => `variant ${index}: ${name} is ${attributes[name] ?? 'missing'}`),
    ...(['SDR', 'PQ', 'HLG'].includes(range) ? [] : [`variant ${index}: VIDEO-RANGE is ${range}`]),
    ...(Number(attributes['AVERAGE-BANDWIDTH']) > Number(attributes['BANDWIDTH'])
      ? [`variant ${index}: AVERAGE-BANDWIDTH is above BANDWIDTH`]
      : []),
  ];
}

/** RFC 8216bis, 4.4.6.6: players start with a pathway that has variants, and find where to ask for others. */
function checkSteering([steering, ...more]: readonly Attributes[], variants: readonly Variant[]): string[] {
  const pathways = variants.map(({ attributes }) => attributes['PATHWAY-ID']);
  if (!steering) return pathways.some((each) => each !== undefined) ? ['pathways: no content steering'] : [];
  return [
    ...(more.length > 0 ? ['content steering: more than one'] : []),
    ...(steering['SERVER-URI'] ? [] : ['content steering: no SERVER-URI']),
    ...(pathways.includes(steering['PATHWAY-ID']) ? [] : ['content steering: its pathway has no variants']),
    ...(pathways.includes(undefined) ? ['pathways: a variant has none'] : []),
  ];
}

const rangeOf = (attributes: Attributes): string => attributes['VIDEO-RANGE'] ?? 'SDR';

/** Sections 4.4.6.2 and 4.4.6.3; Apple's authoring specification, 1.7, 1.23, 1.24, 6.15, 6.16 and 9.15. */
function checkRanges(variants: readonly Variant[], iFrames: readonly Attributes[]): string[] {
  const all = variants.map(({ attributes }) => attributes);
  const hdr = all.filter((attributes) => rangeOf(attributes) !== 'SDR');
  const sdr = all.filter((attributes) => rangeOf(attributes) === 'SDR');
  const summaryOf = (attributes: Attributes) =>
    `${rangeOf(attributes)} ${attributes['RESOLUTION']} ${attributes['CODECS']?.split(',')[0]}`;
  const sizesOf = (list: readonly Attributes[]) => new Set(list.map((each) => each['RESOLUTION']));
  const played = new Set(all.map(summaryOf));
  return [
    ...hdr
      .filter(({ CODECS = '' }) => !TEN_BITS.test(CODECS))
      .map(({ CODECS }) => `variants: HDR in ${CODECS}, which has no ten bits`),
    ...hdr.filter((each) => !isAgreed(each)).map(({ CODECS }) => `variants: ${CODECS} is of another range`),
    ...(all.length > 0 && sdr.length === 0 ? ['variants: none in SDR'] : []),
    ...[...sizesOf(hdr)]
      .filter((size) => !sizesOf(sdr).has(size))
      .map((size) => `variants: ${size} only in HDR`),
    ...(new Set(hdr.map(rangeOf)).size > 1 ? ['variants: PQ and HLG of one video'] : []),
    ...(hdr.length > 0 &&
    all.findIndex((each) => hdr.includes(each)) < all.findLastIndex((each) => sdr.includes(each))
      ? ['variants: SDR is not first']
      : []),
    ...(iFrames.length > 0 && iFrames.map(summaryOf).some((each) => !played.has(each))
      ? ['I-frames: a range, size or codec that no variant has']
      : []),
    ...(iFrames.length > 0 && new Set(iFrames.map(summaryOf)).size < played.size
      ? ['I-frames: not of all variants']
      : []),
  ];
}

/** Main 10 of HEVC, and AV1 whose string states ten bits and the colours. */
const TEN_BITS = /^(?:hvc1\.2\.|av01\.\d\.\d\d[MH]\.10\.)/;

/** The code points in the string of AV1: BT.2020, the transfer, BT.2020. */
function isAgreed(attributes: Attributes): boolean {
  const { CODECS = '' } = attributes;
  const transfer = rangeOf(attributes) === 'PQ' ? '16' : '18';
  return !CODECS.startsWith('av01') || CODECS.split(',')[0]?.endsWith(`.09.${transfer}.09.0`) === true;
}

/** Attributes that players compare between variants, so all of them have it or none. */
function checkTogether(variants: readonly Variant[], pictures: readonly Variant[]): string[] {
  const isMixedIn = (list: readonly Variant[]) => (name: string) =>
    new Set(list.map(({ attributes }) => attributes[name] !== undefined)).size > 1;
  const mixed = [
    ...['AUDIO', 'SUBTITLES', 'CLOSED-CAPTIONS', 'SCORE'].filter(isMixedIn(variants)),
    ...['VIDEO-RANGE'].filter(isMixedIn(pictures)),
  ];
  const isOtherCodec = ({ attributes }: Variant) => attributes['CODECS']?.startsWith('avc1.') !== true;
  const firstOther = pictures.findIndex(isOtherCodec);
  const lastMain = pictures.findLastIndex((variant) => !isOtherCodec(variant));
  return [
    ...mixed.map((name) => `variants: only some have ${name}`),
    ...(firstOther !== -1 && firstOther < lastMain ? ['variants: H.264 is not the first codec'] : []),
  ];
}

function checkGroups(media: readonly Attributes[], variants: readonly Variant[]): string[] {
  const groups = Map.groupBy(media, (each) => `${each['TYPE']} ${each['GROUP-ID']}`);
  const missing = variants.flatMap(({ attributes }) =>
    ['AUDIO', 'SUBTITLES'].filter(
      (type) => attributes[type] !== undefined && !groups.has(`${type} ${attributes[type]}`),
    ),
  );
  return [
    ...missing.map((type) => `variants: an ${type} group does not exist`),
    ...[...groups].flatMap(([name, members]) => [
      ...(new Set(members.map((each) => each['NAME'])).size < members.length
        ? [`group ${name}: two members have one NAME`]
        : []),
      ...(members.filter((each) => each['DEFAULT'] === 'YES').length > 1
        ? [`group ${name}: more than one DEFAULT`]
        : []),
      ...(members.some((each) => each['DEFAULT'] === 'YES' && each['AUTOSELECT'] !== 'YES')
        ? [`group ${name}: DEFAULT without AUTOSELECT`]
        : []),
      ...(members.some((each) => each['TYPE'] === 'SUBTITLES' && each['URI'] === undefined)
        ? [`group ${name}: SUBTITLES without URI`]
        : []),
    ]),
  ];
}

/** Section 4.4.6.2: the sums over the renditions that play together. */
function checkRates(
  { attributes, uri }: Variant,
  media: readonly Attributes[],
  rates: ReadonlyMap<string, Rates>,
): string[] {
  const group = media.filter((each) => each['TYPE'] === 'AUDIO' && each['GROUP-ID'] === attributes['AUDIO']);
  const audio = group.map((each) => rates.get(each['URI'] ?? ''));
  // The sound of such a variant is a member of its group.
  const isSound = !hasPictures({ attributes, uri });
  const most = (kind: keyof Rates) =>
    (isSound ? 0 : (rates.get(uri)?.[kind] ?? 0)) + Math.max(0, ...audio.map((each) => each?.[kind] ?? 0));
  const [peak, average] = [Number(attributes['BANDWIDTH']), Number(attributes['AVERAGE-BANDWIDTH'])];
  return [
    ...(peak < Math.floor(most('peak')) ? [`${uri}: BANDWIDTH ${peak} is below its peak`] : []),
    ...(Math.abs(average / most('average') - 1) > 0.1
      ? [`${uri}: AVERAGE-BANDWIDTH ${average} is not that of its segments`]
      : []),
  ];
}

/** Section 6.2.4: players switch between variants at the same times. */
function checkAlignment(variants: readonly Variant[], playlists: ReadonlyMap<string, string>): string[] {
  const startsOf = ({ uri }: Variant) =>
    segmentsOf(playlists.get(uri) ?? '')
      .map(({ seconds }) => seconds.toFixed(2))
      .join(' ');
  const starts = new Set(variants.map(startsOf));
  return starts.size > 1 ? ['variants: segments are not aligned'] : [];
}

const variantsOf = (text: string): Variant[] =>
  [...text.matchAll(/^#EXT-X-STREAM-INF:(.+)\n(.+)$/gm)].map(([, list = '', uri = '']) => ({
    attributes: attributesOf(list),
    uri,
  }));

const tagsOf = (text: string, tag: string): Attributes[] =>
  [...text.matchAll(RegExp(`^#${tag}:(.+)$`, 'gm'))].map(([, list = '']) => attributesOf(list));

const attributesOf = (list: string): Attributes =>
  Object.fromEntries(
    [...list.matchAll(/([A-Z0-9-]+)=(?:"([^"]*)"|([^",]+))/g)].map(([, name, quoted, plain]) => [
      name,
      quoted ?? plain,
    ]),
  );

/** A variant of sound alone has neither a size nor a codec of pictures. */
const hasPictures = ({ attributes }: Variant): boolean =>
  attributes['RESOLUTION'] !== undefined || !/^(?:mp4a|[ae]c-3)/.test(attributes['CODECS'] ?? '');

/** Players start with the first variant, and fall back to the sound alone below every other bandwidth. */
function checkSoundLast(variants: readonly Variant[], sounds: readonly Variant[]): string[] {
  const pathwayOf = ({ attributes }: Variant) => attributes['PATHWAY-ID'];
  const bandwidthOf = ({ attributes }: Variant) => Number(attributes['BANDWIDTH']);
  return sounds.flatMap((sound) => {
    const all = variants.filter((each) => pathwayOf(each) === pathwayOf(sound));
    return [
      ...(all.at(-1) === sound ? [] : ['variants: sound alone is not the last']),
      ...(Math.min(...all.map(bandwidthOf)) < bandwidthOf(sound)
        ? ['variants: sound alone needs more bandwidth than pictures']
        : []),
    ];
  });
}
