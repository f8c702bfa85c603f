// A page that uploads the chosen file with @mediary/client; the test bundles and drives it.
import { createMediary, type UploadProgress } from '@mediary/client';

type Page = {
  readonly progress: UploadProgress[];
  upload(baseUrl: string, token: string): Promise<{ readonly id: string; readonly stream_status: string }>;
};
type Input = { readonly files: readonly File[] };
type Document = { querySelector(selector: string): Input };

const { document } = globalThis as unknown as { readonly document: Document };
const progress: UploadProgress[] = [];
const page: Page = {
  progress,
  upload: async (baseUrl, token) => {
    const { media } = createMediary({ baseUrl, token });
    const [file] = document.querySelector('input').files;
    if (!file) throw new Error('no file is chosen');
    const { id } = await media.upload(file, { onProgress: (step) => progress.push(step) });
    return media.waitUntilReady(id);
  },
};
Object.assign(globalThis, { page });
