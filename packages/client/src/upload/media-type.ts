// The media type of a file.

const TYPES: Readonly<Record<string, string>> = {
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  mkv: 'video/x-matroska',
  ts: 'video/mp2t',
  m2ts: 'video/mp2t',
  mts: 'video/mp2t',
  '3gp': 'video/3gpp',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  avif: 'image/avif',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  aac: 'audio/aac',
  wav: 'audio/wav',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
  oga: 'audio/ogg',
  opus: 'audio/ogg',
  weba: 'audio/webm',
};

/**
 * The media type of an image, video or audio file by the extension of its name; undefined for other files.
 * Browsers do not know all of them.
 */
export const findMimeType = (filename: string): string | undefined =>
  TYPES[filename.slice(filename.lastIndexOf('.') + 1).toLowerCase()];

/** The type that is given, else that of the file name. */
export function getMimeType(given: string, filename: string): string {
  const type = given === '' ? findMimeType(filename) : given;
  if (type === undefined)
    throw new TypeError(`The media type of "${filename}" is not known. Pass \`mimeType\`.`);
  return type;
}
