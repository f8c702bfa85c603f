// Parses a page of ListObjectsV2 with `encoding-type=url`, and finds the items among the objects.
import { findMimeType } from '@mediary/client';
import { toLanguage } from '../source.ts';

export type BucketObject = {
  readonly key: string;
  readonly sizeBytes: number;
  readonly modifiedAt: string | null;
};

type ObjectPage = {
  readonly objects: readonly BucketObject[];
  /** Undefined: it is the last page. */
  readonly continuationToken: string | undefined;
};

/** Undefined: the text is no such page. */
export function parseObjectPage(xml: string): ObjectPage | undefined {
  if (!/<ListBucketResult[\s>]/.test(xml)) return undefined;
  const objects = Array.from(xml.matchAll(/<Contents>(.*?)<\/Contents>/gs), ([, content = '']) => ({
    key: decodeKey(findText(content, 'Key') ?? ''),
    sizeBytes: Number(findText(content, 'Size') ?? 0),
    modifiedAt: findText(content, 'LastModified') ?? null,
  }));
  return { objects, continuationToken: findText(xml, 'NextContinuationToken') };
}

const findText = (xml: string, name: string): string | undefined => {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text?.replaceAll(/&(amp|lt|gt|quot|apos);/g, (_all, entity: string) => ENTITIES[entity] ?? '');
};

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** Some servers write a space as `+`. */
const decodeKey = (text: string): string => decodeURIComponent(text.replaceAll('+', '%20'));

type CaptionFile = { readonly language: string; readonly key: string };
export type MediaObject = BucketObject & {
  /** Undefined: the name does not tell a supported type. */
  readonly mimeType: string | undefined;
  readonly captions: readonly CaptionFile[];
};

/** `film.mp4` with `film.de.vtt` and `film.en.srt` beside it. Folders and caption files are no items. */
export function findMediaObjects(objects: readonly BucketObject[]): MediaObject[] {
  const captions = new Map<string, CaptionFile[]>();
  const media = objects.filter(({ key }) => {
    const caption = parseCaptionKey(key);
    if (!caption) return !key.endsWith('/');
    captions.set(caption.stem, [...(captions.get(caption.stem) ?? []), { language: caption.language, key }]);
    return false;
  });
  return media.map((object) => ({
    ...object,
    mimeType: findMimeType(object.key),
    captions: captions.get(object.key.replace(/\.[^./]+$/, '')) ?? [],
  }));
}

function parseCaptionKey(key: string): { readonly stem: string; readonly language: string } | undefined {
  const [, stem = '', tag = ''] = /^(.+)\.([A-Za-z\d-]+)\.(?:vtt|srt)$/.exec(key) ?? [];
  const language = toLanguage(tag);
  return language === undefined ? undefined : { stem, language };
}
