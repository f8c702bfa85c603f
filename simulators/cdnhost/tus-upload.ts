// tus uploads of browsers, authenticated by a signature of library, key, expiry and video.
import { type Call, header, type Route } from '../route.ts';
import {
  announcedLength,
  appendToUpload,
  createUpload,
  type TusRules,
  tusCapabilities,
  uploadMetadata,
  uploadOffset,
} from '../tus.ts';
import { assertNoUpload, entryOf, type Library, result, uploadFinished, uploadStarted } from './library.ts';
import { presignature } from './signatures.ts';

const MAX_BYTES = 30_000_000_000;

export function tusRoutes(library: Library): Route[] {
  const rules: TusRules = {
    uploads: library.uploads,
    folder: library.context.folder,
    maxBytes: MAX_BYTES,
    location: (id) => `/tusupload/${id}`,
    finished: ({ video, path }) => uploadFinished(library, entryOf(library, video), path),
  };
  const guard = (call: Call) =>
    isSigned(library, call) ? undefined : result(401, 'The signature is wrong or has expired');
  const route = { group: 'upload', guard } as const;
  const upload = /^\/tusupload\/(?<upload>[\w-]+)$/;
  return [
    {
      group: 'upload',
      name: 'tus-options',
      method: 'OPTIONS',
      path: /^\/tusupload(\/[\w-]+)?$/,
      run: () => tusCapabilities(rules),
    },
    {
      ...route,
      name: 'tus-create',
      method: 'POST',
      path: /^\/tusupload\/?$/,
      run: (call) => create(library, rules, call),
    },
    { ...route, name: 'tus-head', method: 'HEAD', path: upload, run: (call) => uploadOffset(rules, call) },
    {
      ...route,
      name: 'tus-patch',
      method: 'PATCH',
      path: upload,
      run: (call) => appendToUpload(rules, call),
    },
  ];
}

function isSigned({ settings, context }: Library, call: Call): boolean {
  const [signature, expires = '', video = '', libraryId = ''] = [
    'AuthorizationSignature',
    'AuthorizationExpire',
    'VideoId',
    'LibraryId',
  ].map((name) => header(call, name));
  const isLibrary = libraryId === String(settings.libraryId);
  return (
    isLibrary &&
    Number(expires) * 1000 > context.clock.now() &&
    signature === presignature({ libraryId, apiKey: settings.apiKey, expires, video })
  );
}

async function create(library: Library, rules: TusRules, call: Call) {
  const entry = entryOf(library, header(call, 'VideoId'));
  assertNoUpload(entry);
  const metadata = uploadMetadata(header(call, 'Upload-Metadata') ?? '');
  if (!metadata.has('filetype') || !metadata.has('title'))
    return result(400, 'Upload-Metadata needs filetype and title');
  announcedLength(rules, call);
  uploadStarted(library, entry);
  return createUpload(rules, call, entry.video.guid);
}
