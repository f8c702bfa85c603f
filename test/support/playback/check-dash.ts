// Lists the violations of ISO/IEC 23009-1 and the DASH-IF guidelines in a manifest with timelines.
import type { TrackState } from './check-media-playlist.ts';

export type DashFiles = {
  readonly manifest: string;
  /** Name → bytes of each file; names are relative to the base URL of the manifest. */
  readonly sizes: ReadonlyMap<string, number>;
};

type Element = { readonly attributes: Readonly<Record<string, string>>; readonly content: string };
type Entry = { readonly start: number; readonly seconds: number };

export function checkDash({ manifest, sizes }: DashFiles, state: TrackState = 'complete'): string[] {
  const [mpd] = elementsOf(manifest, 'MPD');
  if (!mpd) return ['no MPD'];
  const sets = elementsOf(mpd.content, 'AdaptationSet');
  const representations = sets.flatMap(({ content }) => elementsOf(content, 'Representation'));
  const tracks = sets.filter((set) => !isText(set) && !isImage(set));
  const isGrowing = state === 'growing';
  // The duration is that of the whole video.
  const end = isGrowing ? 0 : secondsOf(mpd.attributes['mediaPresentationDuration']);
  const buffer = secondsOf(mpd.attributes['minBufferTime']);
  return [
    ...checkMpd(mpd, isGrowing ? 'dynamic' : 'static'),
    ...(isGrowing ? checkGrowth(mpd) : []),
    ...repeated(sets).map((id) => `AdaptationSet ${id} occurs twice`),
    ...repeated(representations).map((id) => `Representation ${id} occurs twice`),
    ...tracks.flatMap(checkSet),
    ...tracks
      .flatMap(({ content }) => elementsOf(content, 'Representation'))
      .flatMap((each) => checkRepresentation(each, { sizes, end, buffer })),
    ...sets.filter(isText).flatMap((set) => checkText(set, sizes)),
    ...sets.filter(isImage).flatMap((set) => checkTiles(set, { sizes, end })),
  ];
}

function checkMpd({ attributes, content }: Element, type: 'static' | 'dynamic'): string[] {
  const required = ['profiles', 'mediaPresentationDuration', 'minBufferTime'];
  return [
    ...(attributes['type'] === type ? [] : [`MPD: not ${type}`]),
    ...required.filter((name) => !attributes[name]).map((name) => `MPD: no ${name}`),
    ...(elementsOf(content, 'Period').length === 1 ? [] : ['MPD: not one Period']),
  ];
}

/** Section 5.3.1.2, and DASH-IF IOP 4.3, 4.7.2: players need the clock and the time of the next version. */
function checkGrowth({ attributes, content }: Element): string[] {
  const required = ['availabilityStartTime', 'publishTime', 'minimumUpdatePeriod'];
  const [start, published] = required.map((name) => Date.parse(attributes[name] ?? ''));
  return [
    ...required.filter((name) => !attributes[name]).map((name) => `MPD: no ${name}`),
    ...(Number(start) <= Number(published) ? [] : ['MPD: available after it was published']),
    ...(elementsOf(content, 'UTCTiming').length > 0 ? [] : ['MPD: no UTCTiming']),
  ];
}

const isImage = ({ attributes }: Element): boolean => attributes['contentType'] === 'image';

/** DASH-IF IOP 4.3, 6.2.6: pictures of one size, each with the same number of tiles. */
function checkTiles(
  set: Element,
  { sizes, end }: Pick<DashFiles, 'sizes'> & { readonly end: number },
): string[] {
  const [template] = elementsOf(set.content, 'SegmentTemplate');
  const [representation] = elementsOf(set.content, 'Representation');
  const [property] = elementsOf(representation?.content ?? '', 'EssentialProperty');
  const seconds = Number(template?.attributes['duration']) / Number(template?.attributes['timescale']);
  const names = Array.from({ length: Math.ceil(end / seconds) }, (_, index) =>
    (template?.attributes['media'] ?? '').replace('$Number$', `${index + 1}`),
  );
  const rate = Math.max(...names.map((name) => (8 * (sizes.get(name) ?? 0)) / seconds));
  return [
    ...(/^\d+x\d+$/.test(property?.attributes['value'] ?? '') ? [] : ['tiles: no layout']),
    ...names.filter((name) => !sizes.has(name)).map((name) => `tiles: no file ${name}`),
    ...(rate <= Number(representation?.attributes['bandwidth']) ? [] : [`tiles: ${rate} bits per second`]),
  ];
}

const isText = ({ attributes }: Element): boolean => attributes['contentType'] === 'text';

/** One WebVTT file for each language. */
function checkText({ attributes, content }: Element, sizes: DashFiles['sizes']): string[] {
  const members = elementsOf(content, 'Representation');
  const files = members.flatMap((each) => elementsOf(each.content, 'BaseURL').map((url) => url.content));
  return [
    ...(attributes['mimeType'] === 'text/vtt' ? [] : ['not WebVTT']),
    ...(attributes['lang'] ? [] : ['no lang']),
    ...(elementsOf(content, 'Role').length > 0 ? [] : ['no Role']),
    ...(members.length === 1 && files.length === 1 ? [] : ['not one file']),
    ...members.filter((each) => !(Number(each.attributes['bandwidth']) > 0)).map(() => 'no bandwidth'),
    ...files.filter((file) => !sizes.has(file)).map((file) => `${file} does not exist`),
  ].map((problem) => `AdaptationSet ${attributes['id']}: ${problem}`);
}

function checkSet({ attributes, content }: Element): string[] {
  const name = `AdaptationSet ${attributes['id']}`;
  const members = elementsOf(content, 'Representation');
  const families = new Set(members.map((each) => each.attributes['codecs']?.split('.')[0]));
  const starts = new Set(
    members.map((each) =>
      timelineOf(each)
        .entries.map(({ start }) => start.toFixed(2))
        .join(' '),
    ),
  );
  const isAligned = attributes['segmentAlignment'] !== 'true' || starts.size <= 1;
  return [
    ...(members.length === 0 ? [`${name}: empty`] : []),
    ...(/^(?:video|audio)\/mp4$/.test(attributes['mimeType'] ?? '') ? [] : [`${name}: no mimeType`]),
    ...(families.size > 1 ? [`${name}: ${families.size} codecs, between which players cannot switch`] : []),
    ...(isAligned ? [] : [`${name}: segments are not aligned`]),
    ...(attributes['contentType'] === 'video' ? members.flatMap(checkPicture) : []),
    ...(attributes['contentType'] === 'video' ? checkColours(name, { attributes, content }, members) : []),
  ];
}

const CICP = 'urn:mpeg:mpegB:cicp:';

/**
 * DASH-IF IOP 4.3, 6.2.5.1: sets of one video that differ in colours state them. ETSI TS 103 285, 5.2:
 * BT.2020 with PQ or HLG is essential, so that players which do not know it ignore the set.
 */
function checkColours(name: string, { attributes: set, content }: Element, members: readonly Element[]) {
  const stated = ['ColourPrimaries', 'TransferCharacteristics', 'MatrixCoefficients'].map(
    (scheme) =>
      elementsOf(content, 'EssentialProperty').find(
        ({ attributes }) => attributes['schemeIdUri'] === `${CICP}${scheme}`,
      )?.attributes['value'],
  );
  const isHdr = members.some(({ attributes }) => TEN_BITS.test(attributes['codecs'] ?? ''));
  const strings = members.flatMap(
    ({ attributes }) => AV1_COLOURS.exec(attributes['codecs'] ?? '')?.[1] ?? [],
  );
  const values = stated.map((value) => (value ?? '').padStart(2, '0')).join('.');
  if (!isHdr) return stated.every((value) => value === undefined) ? [] : [`${name}: HDR in eight bits`];
  return [
    ...(/^09\.(?:16|18)\.09$/.test(values) ? [] : [`${name}: HDR without its colours (${values})`]),
    // 5.3.3.2: higher numbers are preferred; the default is 1.
    ...(Number(set['selectionPriority'] ?? 1) < 1 ? [] : [`${name}: HDR is not the last choice`]),
    ...(strings.every((each) => each === values) ? [] : [`${name}: other colours than its codecs`]),
  ];
}

/** Main 10 of HEVC, and ten bits of AV1. */
const TEN_BITS = /^(?:hvc1\.2\.|av01\.\d\.\d\d[MH]\.10)/;
const AV1_COLOURS = /^av01\.\d\.\d\d[MH]\.10\.\d\.\d{3}\.(\d\d\.\d\d\.\d\d)\.\d$/;

function checkPicture({ attributes }: Element): string[] {
  const { id, width, height, frameRate } = attributes;
  return Number(width) > 0 && Number(height) > 0 && /^\d+(?:\/\d+)?$/.test(frameRate ?? '')
    ? []
    : [`Representation ${id}: no size or frame rate`];
}

type Context = { readonly sizes: DashFiles['sizes']; readonly end: number; readonly buffer: number };

function checkRepresentation(element: Element, { sizes, end, buffer }: Context): string[] {
  const { id = '', codecs = '', bandwidth } = element.attributes;
  const { entries, isContiguous, initialization, media } = timelineOf(element);
  const files = entries.map((_, index) => expand(media, id, index + 1));
  const bits = files.map((file) => 8 * (sizes.get(file) ?? 0));
  const last = entries.at(-1);
  const missing = [expand(initialization, id, 0), ...files].filter((file) => !sizes.has(file));
  return [
    ...(/^(?:[a-z0-9]{4}\.[\w.]+|[ae]c-3)$/i.test(codecs) ? [] : [`codecs "${codecs}"`]),
    ...(Number(bandwidth) > 0 ? [] : ['no bandwidth']),
    ...(entries[0]?.start === 0 ? [] : ['does not start at 0']),
    ...(isContiguous ? [] : ['has gaps']),
    ...(last && last.start + last.seconds >= end - 0.05 ? [] : ['ends before the presentation']),
    ...(fitsBuffer(entries, bits, { rate: Number(bandwidth), buffer }) ? [] : ['stalls at its bandwidth']),
    ...missing.map((file) => `${file} does not exist`),
  ].map((problem) => `Representation ${id}: ${problem}`);
}

/** `bandwidth` (5.3.5.2): a client that waits for minBufferTime, wherever it starts, never runs empty. */
function fitsBuffer(
  entries: readonly Entry[],
  bits: readonly number[],
  { rate, buffer }: { readonly rate: number; readonly buffer: number },
): boolean {
  return entries.every((_, first) => {
    let [loaded, played] = [0, 0];
    return entries.slice(first).every(({ seconds }, offset) => {
      loaded += bits[first + offset] ?? 0;
      const fits = loaded <= rate * (played + seconds + buffer);
      played += seconds;
      return fits;
    });
  });
}

function timelineOf({ content }: Element) {
  const [template] = elementsOf(content, 'SegmentTemplate');
  const { timescale = '1', initialization = '', media = '' } = template?.attributes ?? {};
  const entries: Entry[] = [];
  let end: number | undefined;
  let isContiguous = true;
  for (const { attributes } of elementsOf(template?.content ?? '', 'S')) {
    const duration = Number(attributes['d']);
    const start = attributes['t'] === undefined ? (end ?? 0) : Number(attributes['t']);
    isContiguous &&= end === undefined || start === end;
    for (let repeat = 0; repeat <= Number(attributes['r'] ?? 0); repeat += 1)
      entries.push({
        start: (start + repeat * duration) / Number(timescale),
        seconds: duration / Number(timescale),
      });
    end = start + duration * (Number(attributes['r'] ?? 0) + 1);
  }
  return { entries, isContiguous, initialization, media };
}

const expand = (template: string, id: string, number: number): string =>
  template
    .replace('$RepresentationID$', id)
    .replace(/\$Number%0(\d+)d\$/, (_, width: string) => String(number).padStart(Number(width), '0'));

function repeated(elements: readonly Element[]): string[] {
  const ids = elements.map(({ attributes }) => attributes['id'] ?? '');
  return ids.filter((id, index) => ids.indexOf(id) !== index);
}

/** Elements of this name that are not inside another of the same name; enough for these manifests. */
const elementsOf = (xml: string, name: string): Element[] =>
  [...xml.matchAll(RegExp(`<${name}((?:\\s[^>]*?)?)(?:/>|>([\\s\\S]*?)</${name}>)`, 'g'))].map(
    ([, attributes = '', content = '']) => ({
      attributes: Object.fromEntries(
        [...attributes.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key, value]),
      ),
      content,
    }),
  );

/** Parses PT…S, the only form that the service writes. */
const secondsOf = (duration = ''): number => Number(/^PT([\d.]+)S$/.exec(duration)?.[1]);
