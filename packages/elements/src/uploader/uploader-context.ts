// What the parts of one <mediary-uploader> share: its list, its settings, its connection to a service.
import type { UploadOptions } from '@mediary/client';
import type { UploadConnection } from './connection.ts';
import type { FileRules } from './file-rules.ts';
import type { UploadMemory } from './remembered.ts';
import type { UploaderTexts } from './texts.ts';
import type { UploadItem } from './upload-item.ts';

export type UploaderEventName = 'start' | 'progress' | 'uploaded' | 'ready' | 'error';

/** Of a new element; its other properties are undefined. */
export const UPLOADER_DEFAULTS = {
  /** What the dialog offers. Some systems do not know the types of the extensions. */
  accept: 'image/*,video/*,.heic,.heif,.avif,.mkv,.mts,.m2ts,.ts',
  concurrency: 2,
  resumeScope: '',
  skipInspection: false,
  disabled: false,
} as const;

type ChosenOptions = Pick<UploadOptions, 'visibility' | 'tags' | 'metadata' | 'replaces'>;

export type UploaderContext = {
  /** Newest first. */
  items: readonly UploadItem[];
  readonly rules: FileRules;
  /** Throws where the element lacks an address or credentials. */
  readonly connection: () => UploadConnection;
  readonly memory: () => UploadMemory;
  readonly texts: () => UploaderTexts;
  readonly uploadOptions: () => ChosenOptions;
  /** Whether files are inspected before they are sent. */
  readonly isInspecting: () => boolean;
  readonly maxFiles: () => number;
  /** `item`: its phase has changed, so that the live region says so. */
  readonly onChange: (item?: UploadItem) => void;
  readonly emit: (name: UploaderEventName, item: UploadItem) => void;
};

export const toUploadOptions = ({ visibility, tags, metadata, replaces }: ChosenOptions): ChosenOptions => ({
  visibility,
  tags,
  metadata,
  replaces,
});
