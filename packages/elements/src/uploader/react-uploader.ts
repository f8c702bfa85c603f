// <mediary-uploader> as a React component.
import {
  createElement,
  type CSSProperties,
  type ReactElement,
  type ReactNode,
  useEffect,
  useRef,
} from 'react';
import type { MediaryUploader as UploaderElement } from './element.ts';
import { UPLOADER_DEFAULTS } from './uploader-context.ts';
import type { UploadEvent } from './uploader-events.ts';

type ElementProperties = Pick<
  UploaderElement,
  | 'endpoint'
  | 'baseUrl'
  | 'token'
  | 'tokenProvider'
  | 'headers'
  | 'accept'
  | 'maxBytes'
  | 'maxFiles'
  | 'concurrency'
  | 'capture'
  | 'visibility'
  | 'tags'
  | 'metadata'
  | 'replaces'
  | 'resumeScope'
  | 'skipInspection'
  | 'disabled'
  | 'texts'
>;

type UploaderListeners = {
  readonly onUploadStart?: (event: UploadEvent) => void;
  readonly onUploadProgress?: (event: UploadEvent) => void;
  readonly onUploadUploaded?: (event: UploadEvent) => void;
  readonly onUploadReady?: (event: UploadEvent) => void;
  readonly onUploadError?: (event: UploadEvent) => void;
};

export type MediaryUploaderProps = Partial<ElementProperties> &
  UploaderListeners & {
    readonly id?: string;
    readonly className?: string;
    readonly style?: CSSProperties;
    /** Content of the slots: elements with `slot`. */
    readonly children?: ReactNode;
  };

const EVENTS = {
  'mediary-upload-start': 'onUploadStart',
  'mediary-upload-progress': 'onUploadProgress',
  'mediary-upload-uploaded': 'onUploadUploaded',
  'mediary-upload-ready': 'onUploadReady',
  'mediary-upload-error': 'onUploadError',
} as const;

export function MediaryUploader(props: MediaryUploaderProps): ReactElement {
  const { id, className, style, children, ...rest } = props;
  const element = useRef<UploaderElement>(null);
  const latest = useRef(props);
  const setBefore = useRef<readonly string[]>([]);
  useEffect(() => {
    latest.current = props;
    const given = toProperties(rest);
    Object.assign(element.current ?? {}, resetMissing(setBefore.current, given));
    setBefore.current = Object.keys(given);
  });
  useEffect(() => {
    void import('../uploader.ts');
    const { current } = element;
    const ended = new AbortController();
    for (const [type, name] of Object.entries(EVENTS))
      current?.addEventListener(type, (event) => latest.current[name]?.(event as UploadEvent), ended);
    return () => ended.abort();
  }, []);
  return createElement('mediary-uploader', { ref: element, id, class: className, style }, children);
}

type Properties = Readonly<Record<string, unknown>>;

const toProperties = (props: object): Properties =>
  Object.fromEntries(
    Object.entries(props).filter(([name, value]) => !name.startsWith('on') && value !== undefined),
  );

/** The element would keep the value of a prop that the page no longer sets. */
function resetMissing(setBefore: readonly string[], given: Properties): Properties {
  const defaults: Properties = UPLOADER_DEFAULTS;
  return { ...Object.fromEntries(setBefore.map((name) => [name, defaults[name]])), ...given };
}
