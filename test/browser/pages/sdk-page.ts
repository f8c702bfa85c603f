// A page that uploads the chosen file with @mediary/client; the test bundles and drives it.
import { createMediary, type FileInspection, type UploadProgress } from '@mediary/client';

type Stream = { readonly types: string[]; opened: number; readyState: number };
type Page = {
  /** What the page has received by EventSource. */
  stream: Stream;
  /** `altered` is added to the URL. */
  follow(baseUrl: string, token: string, altered?: string): Promise<void>;
  readonly progress: UploadProgress[];
  inspect(): Promise<FileInspection>;
  upload(baseUrl: string, token: string): Promise<{ readonly id: string; readonly stream_status: string }>;
};
type Input = { readonly files: readonly File[] };
type Document = { querySelector(selector: string): Input };

declare const document: Document;
type EventStream = {
  readonly readyState: number;
  addEventListener(type: string, listener: (event: { readonly type: string }) => void): void;
};
declare const EventSource: new (url: string) => EventStream;
const progress: UploadProgress[] = [];
const page: Page = {
  stream: { types: [], opened: 0, readyState: 0 },
  follow: async (baseUrl, token, altered = '') => {
    const { url } = await createMediary({ baseUrl, token }).events.createTicket();
    const stream: Stream = { types: [], opened: 0, readyState: 0 };
    page.stream = stream;
    const source = new EventSource(`${url}${altered}`);
    await new Promise<void>((resolve) => {
      source.addEventListener('open', () => {
        stream.opened += 1;
        resolve();
      });
      source.addEventListener('error', () => {
        stream.readyState = source.readyState;
        resolve();
      });
    });
    for (const type of ['asset.created', 'asset.updated'])
      source.addEventListener(type, (event) => stream.types.push(event.type));
  },
  progress,
  inspect: async () => {
    const { media } = createMediary({ baseUrl: 'https://media.example.com', token: '' });
    const [file] = document.querySelector('input').files;
    if (!file) throw new Error('no file is chosen');
    return media.inspect(file, { placeholder: true });
  },
  upload: async (baseUrl, token) => {
    const { media } = createMediary({ baseUrl, token });
    const [file] = document.querySelector('input').files;
    if (!file) throw new Error('no file is chosen');
    const { id } = await media.upload(file, { onProgress: (step) => progress.push(step) });
    return media.waitUntilReady(id);
  },
};
Object.assign(globalThis, { page });
