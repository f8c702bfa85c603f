// The picture of a file that is ready: its thumbnail, or a preview of a picture of this browser.
import type { UploadItem } from './upload-item.ts';
import type { UploaderContext } from './uploader-context.ts';

export async function showThumbnail(ctx: UploaderContext, item: UploadItem): Promise<void> {
  const { asset } = item;
  const url = asset?.visibility === 'public' ? asset.playback?.thumbnail : await askThumbnail(ctx, item);
  item.thumbnail = url ?? undefined;
  if (item.thumbnail === undefined) item.preview = await readPreview(item.file);
  ctx.onChange();
}

async function askThumbnail(ctx: UploaderContext, { assetId = '', controller }: UploadItem) {
  const { media } = ctx.connection();
  const options = { signal: controller.signal, maxRetries: 0 };
  // Upload tokens cannot read playback.
  const playback = await media.playback(assetId, options).catch(() => undefined);
  return playback?.thumbnail;
}

const PREVIEW_PX = 112;

/** Undefined for videos, and for pictures that the browser cannot decode. */
function readPreview(file: File | undefined): Promise<ImageBitmap | undefined> {
  if (!file?.type.startsWith('image/')) return Promise.resolve(undefined);
  return createImageBitmap(file, { resizeWidth: PREVIEW_PX }).catch(() => undefined);
}
