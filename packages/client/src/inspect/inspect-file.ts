// Finds out what a file is, and what the service would say about it, before a byte is sent.
import { detectFileType, type FileType, HEAD_BYTES } from '@mediary/media-rules/magic-bytes';
import { ALL_MEDIA_TYPES, findMediaType, type MediaType } from '@mediary/media-rules/media-type';
import type { ProbedFormat } from '@mediary/media-rules/probe-file';
import { toWarnings } from '@mediary/media-rules/warnings';
import { findMimeType } from '../upload/media-type.ts';
import { type BoundedReader, openBoundedReader } from './bounded-reader.ts';
import { turnSize } from './exif-orientation.ts';
import {
  type ImageHeader,
  readGifHeader,
  readJpegHeader,
  readPngHeader,
  readWebpHeader,
} from './image-headers.ts';
import type { FileInspection, InspectOptions } from './inspection.ts';
import { readImagePlaceholder } from './placeholder.ts';
import { readVideo } from './read-video.ts';
import { refuseClaims, refuseDuration, refusePixels, refuseVideo } from './refusals.ts';
import { readStillHeader } from './still-boxes.ts';

type Known = Pick<FileInspection, 'kind' | 'container' | 'mime_type' | 'size_bytes' | 'refusals'>;
type Job = {
  readonly file: Blob;
  readonly reader: BoundedReader;
  readonly options: InspectOptions;
  readonly known: Known;
};

export async function inspectFile(file: Blob, options: InspectOptions): Promise<FileInspection> {
  const reader = openBoundedReader(file, options.signal);
  const detected = detectFileType(await reader.read(0, HEAD_BYTES));
  const given = giveMimeType(file, options);
  const format = chooseFormat(given, detected);
  const mimeType = given ?? format?.mime ?? null;
  const known: Known = {
    kind: format?.kind ?? null,
    container: format ? (format.kind === 'image' ? detected : format.container) : null,
    mime_type: mimeType,
    size_bytes: file.size,
    refusals: refuseClaims({ mimeType, sizeBytes: file.size, detected }, options.limits ?? {}),
  };
  const inspection = await inspectContent({ file, reader, options, known }, format, detected);
  // Parsers take a read that failed for the end of a broken file.
  reader.throwIfFailed();
  return inspection;
}

function inspectContent(job: Job, format: MediaType | undefined, detected: FileType) {
  if (format?.kind === 'image') return inspectImage(job, detected);
  if (format?.kind === 'audio') return inspectVideo(job, format);
  if (format && isProbed(format)) return inspectVideo(job, format);
  return { ...NOTHING, ...job.known };
}

const NOTHING = {
  width: null,
  height: null,
  duration_ms: null,
  rotation: null,
  is_mirrored: null,
  is_animated: null,
  video: null,
  audio: [],
  placeholder: null,
  warnings: [],
  is_complete: true,
} satisfies Partial<FileInspection>;

const isProbed = (format: MediaType): format is MediaType & ProbedFormat =>
  format.kind === 'video' && ['mov', 'matroska', 'mpegts'].includes(format.container);

function giveMimeType(
  file: Blob,
  { mimeType, filename = (file as { readonly name?: string }).name ?? '' }: InspectOptions,
): string | undefined {
  return mimeType || file.type || findMimeType(filename);
}

/** Several types have the same bytes, such as video and audio in MP4: then the given one counts. */
function chooseFormat(mimeType: string | undefined, detected: FileType): MediaType | undefined {
  const found = ALL_MEDIA_TYPES.filter(({ signatures }) => signatures.some((each) => each === detected));
  const given = findMediaType(mimeType ?? '');
  return found.find((type) => type === given) ?? found[0];
}

type ReadHeader = (reader: BoundedReader) => Promise<ImageHeader | undefined>;

const HEADERS: Readonly<Partial<Record<FileType, ReadHeader>>> = {
  jpeg: readJpegHeader,
  png: readPngHeader,
  webp: readWebpHeader,
  gif: readGifHeader,
  avif: readStillHeader,
  heif: readStillHeader,
};

async function inspectImage(
  { file, reader, options, known }: Job,
  detected: FileType,
): Promise<FileInspection> {
  const header = await HEADERS[detected]?.(reader).catch(() => undefined);
  const placeholder = options.placeholder ? await readImagePlaceholder(file) : null;
  const is_complete = !reader.isExhausted();
  if (!header) return { ...NOTHING, ...known, placeholder, is_complete };
  const { size, turn, frames, isAnimationDropped } = header;
  return {
    ...NOTHING,
    ...known,
    ...turnSize(size, turn),
    rotation: turn.rotation,
    is_mirrored: turn.isMirrored,
    is_animated: frames > 1 || isAnimationDropped,
    placeholder,
    warnings: [...toWarnings({ isAnimationDropped })],
    refusals: [...known.refusals, ...refusePixels(size.width * size.height * frames, options.limits ?? {})],
    is_complete,
  };
}

async function inspectVideo({ reader, options, known }: Job, format: ProbedFormat): Promise<FileInspection> {
  const { result, lacksFrames, ...content } = await readVideo(reader, format, options.placeholder === true);
  const found = { ...NOTHING, ...known, ...content, is_complete: !lacksFrames && !reader.isExhausted() };
  if (!result) return found;
  if ('refused' in result) return { ...found, refusals: [...known.refusals, refuseVideo(result.refused)] };
  const { width, height, durationMs, traits } = result.facts;
  return {
    ...found,
    width,
    height,
    duration_ms: durationMs,
    warnings: [...toWarnings(traits)],
    refusals: [...known.refusals, ...refuseDuration(durationMs, options.limits ?? {})],
  };
}
