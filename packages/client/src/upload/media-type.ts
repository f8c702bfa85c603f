// The media type of a file.

const TYPES: Readonly<Record<string, string>> = {
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  mkv: 'video/x-matroska',
  ts: 'video/mp2t',
  m2ts: 'video/mp2t',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  avif: 'image/avif',
  gif: 'image/gif',
  heic: 'image/heic',
  heif: 'image/heif',
};

/** The type that is given, else that of the file name's extension, because browsers do not know them all. */
export function findMediaType(given: string, filename: string): string {
  if (given !== '') return given;
  const type = TYPES[filename.slice(filename.lastIndexOf('.') + 1).toLowerCase()];
  if (type === undefined)
    throw new TypeError(`The media type of "${filename}" is not known. Pass \`contentType\`.`);
  return type;
}
