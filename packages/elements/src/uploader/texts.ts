// Every sentence that the element shows, and how it writes numbers. Applications replace them by `texts`.

export type UploaderTexts = typeof ENGLISH;

export type MediaKind = 'image' | 'video' | 'audio';

const PLURALS: Readonly<Record<MediaKind, string>> = {
  image: 'images',
  video: 'videos',
  audio: 'audio files',
};

/** `images, videos and audio files`; `files` where `accept` has other types alone. */
function listKinds(kinds: readonly MediaKind[]): string {
  const names = kinds.map((kind) => PLURALS[kind]);
  const last = names.pop() ?? 'files';
  return names.length === 0 ? last : `${names.join(', ')} and ${last}`;
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'] as const;

/** Powers of 1000, as disks and networks are measured. */
function formatBytes(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const value = bytes / 1000 ** power;
  const digits = power === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits)}\u00a0${UNITS[power]}`;
}

function formatSeconds(seconds: number): string {
  if (seconds < 60) return `${Math.max(1, Math.ceil(seconds))}\u00a0s`;
  if (seconds < 3600) return `${Math.ceil(seconds / 60)}\u00a0min`;
  const minutes = Math.ceil(seconds / 60);
  return `${Math.floor(minutes / 60)}\u00a0h ${minutes % 60}\u00a0min`;
}

const listAllowed = (kinds: readonly MediaKind[], types: readonly string[]): string =>
  [...(kinds.length > 0 ? [listKinds(kinds)] : []), ...types].join(', ');

const PROBLEMS: Readonly<Record<string, string>> = {
  type_mismatch: 'The file is not of the type that its name says.',
  not_media: 'The file is no image, video or sound, or it is damaged.',
  no_video_track: 'The file contains no video.',
  no_audio_track: 'The file contains no sound.',
  truncated: 'The file is cut off.',
  undecodable: 'The file is damaged.',
  size_mismatch: 'The file has changed while it was sent.',
  quota_exceeded: 'There is no space left for this file.',
  expired: 'The sign-in has expired. Sign in, and try again.',
  upload_token_used_up: 'No more files can be uploaded here.',
  CORS_REFUSED: 'This page is not allowed to upload. Its operator has to set CORS_ORIGINS.',
};

export const ENGLISH = {
  label: 'Upload files',
  /** `kinds`: those of `accept`. */
  prompt: (kinds: readonly MediaKind[]) => `Drop ${listKinds(kinds)} here`,
  hint: 'or paste them',
  choose: 'Choose files',
  takePhoto: 'Take a photo',
  recordVideo: 'Record a video',
  list: 'Uploads',
  formatBytes,
  formatSeconds,
  sentOf: (sent: string, total: string) => `${sent} of ${total}`,
  speed: (bytes: string) => `${bytes}/s`,
  timeLeft: (time: string) => `${time} left`,
  waiting: 'Waiting for its turn',
  paused: 'Paused',
  offline: 'No connection. It goes on by itself.',
  interrupted: 'Interrupted. Choose the file again to continue.',
  completing: 'Checking the file',
  encoding: (percent: number) => `Encoding, ${percent} %`,
  ready: 'Ready',
  failed: 'Failed',
  notUploaded: 'Not uploaded',
  pause: 'Pause',
  resume: 'Resume',
  cancel: 'Cancel',
  retry: 'Try again',
  remove: 'Remove from the list',
  chooseAgain: 'Choose the file',
  uploadOf: (name: string) => `Upload of ${name}`,
  encodingOf: (name: string) => `Encoding of ${name}`,
  button: (action: string, name: string) => `${action}: ${name}`,
  announce: (name: string, status: string) => `${name}: ${status}`,
  emptyFile: (name: string) => `“${name}” is empty.`,
  /** `kinds`: all types of them are allowed; `types`: what else is. */
  wrongType: (name: string, kinds: readonly MediaKind[], types: readonly string[]) =>
    `“${name}” cannot be uploaded. Allowed: ${listAllowed(kinds, types)}.`,
  tooLarge: (name: string, limit: number) => `“${name}” is larger than ${formatBytes(limit)}.`,
  tooMany: (name: string, limit: number) => `“${name}” is not uploaded: ${limit} files are the most.`,
  isFolder: (name: string) => `“${name}” is a folder. Choose the files in it.`,
  otherFile: (name: string) => `That is another file. Choose “${name}” as it was.`,
  elsewhere: 'Another tab uploads this file.',
  unconfigured: 'The uploader has no `endpoint`, and no `base-url` with a token.',
  unexpected: 'The upload failed.',
  /** By reason or code of an error; else its own message is shown. */
  problems: PROBLEMS,
};
