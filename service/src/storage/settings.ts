// Settings of the object store.
import { integer, list, type Setting } from '../platform/settings/setting.ts';
import type { Settings } from '../platform/settings/read-settings.ts';
import { ownBucketPlaces, parseSourcePlace, type SourceScheme } from './sources/source-url.ts';
import { parseS3Url, type S3Location } from './storage-url.ts';

type StoreLocation = {
  /** A `file:` URL with an absolute path; undefined: a folder in `dataDir`, or the bucket of `s3`. */
  readonly storageUrl: string | undefined;
  /** The bucket of an `s3:` URL. */
  readonly s3: S3Location | undefined;
};

/** Without a host. A URL has no relative paths: `file:./objects` would mean `/objects`. */
const FOLDER_URL = /^file:(?:\/\/(?:localhost)?)?\/(?!\/)/;

const location: Setting<StoreLocation> = {
  name: 'STORAGE_URL',
  type: 'url',
  about:
    'Object store: a folder, `file:///…`, or a bucket, `s3://<bucket>?region=…&endpoint=…` ' +
    '([guide](guides/s3-storage.md)); credentials come from the AWS chain.',
  byDefault: '`DATA_DIR/objects`',
  parse({ given }, report) {
    if (given?.startsWith('s3:')) return { storageUrl: undefined, s3: parseS3Url(given, report) };
    if (given !== undefined && !given.startsWith('file:'))
      report('STORAGE_URL must be a file: or an s3: URL');
    else if (given !== undefined && !FOLDER_URL.test(given))
      report('STORAGE_URL must name a folder by its absolute path, such as file:///srv/media');
    return { storageUrl: given, s3: undefined };
  },
};

type SourcePlace = { readonly scheme: SourceScheme; readonly name: string };

const sourcePlaces: Setting<readonly SourcePlace[]> = list(
  'ADOPT_SOURCES',
  'Where files lie that operators may [adopt](guides/migrate.md#adopt-files-in-place): buckets at the ' +
    'endpoint of the store, `s3://<bucket>` or `s3://<bucket>/<prefix>`, or with a store on a disk ' +
    'folders, `file:///…`. Set it for `api` and `worker` processes alike.',
  {
    byDefault: 'nothing can be adopted',
    parse: (items, report) =>
      items.flatMap((item) => {
        const place = parseSourcePlace(item);
        if (!place)
          report(
            `ADOPT_SOURCES names "${item}", which is neither s3://<bucket>/<prefix> nor file:///<folder>`,
          );
        return place ?? [];
      }),
  },
);

const STORAGE_SETTINGS = {
  title: 'Storage',
  settings: {
    location,
    sourcePlaces,
    minFreeBytes: integer(
      'MIN_FREE_BYTES',
      'Uploads are refused with 503 while the disk of the store or of the embedded database has less free ' +
        'space; deletes still work. Encodes wait while the disk of a worker has no room for them beyond it.',
      { fallback: 64 * 1024 ** 2, min: 0, max: Number.MAX_SAFE_INTEGER },
    ),
  },
};

export function readStorageSettings(settings: Settings) {
  const { location: store, sourcePlaces: places, minFreeBytes } = settings.read(STORAGE_SETTINGS);
  settings.problems.push(...findSourceProblems(store.s3, places));
  return { ...store, minFreeBytes, adoptSources: places.map(({ name }) => name) };
}

/** Of a folder, the store itself finds out whether it holds the data of the service. */
function findSourceProblems(s3: S3Location | undefined, places: readonly SourcePlace[]): string[] {
  const needed: SourceScheme = s3 ? 's3' : 'file';
  const own = s3 ? ownBucketPlaces(s3) : [];
  const [other] = places.filter(({ scheme }) => scheme !== needed);
  const [inside] = places.filter(({ name }) => own.some((place) => name.startsWith(place)));
  return [
    ...(other ? [`ADOPT_SOURCES must have ${needed}: places, as the store of STORAGE_URL`] : []),
    ...(inside ? [`ADOPT_SOURCES names ${inside.name}, where the service stores its own objects`] : []),
  ];
}
