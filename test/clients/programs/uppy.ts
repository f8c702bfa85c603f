// A page that uploads the chosen file with Uppy, as an application would; the test bundles and drives it.
import Uppy from '@uppy/core';
import Tus from '@uppy/tus';

type TusTarget = { readonly protocol: 'tus'; readonly url: string };

type UploadResult = { readonly uploaded: number; readonly errors: readonly string[] };

async function upload(target: TusTarget): Promise<UploadResult> {
  const [file] = document.querySelector('input')?.files ?? [];
  if (!file) throw new Error('no file is chosen');
  const uppy = new Uppy();
  uppy.use(Tus, {
    endpoint: target.url,
    retryDelays: [100, 500, 1000, 2000, 4000, 8000, 8000],
  });
  uppy.addFile({ name: file.name, type: file.type, data: file });
  const result = await uppy.upload();
  return {
    uploaded: result?.successful?.length ?? 0,
    errors: (result?.failed ?? []).map(({ error }) => String(error)),
  };
}

Object.assign(globalThis, { upload });
