// `upload_file` and `replace_file`: send a local file below the root folder. Offered with `--write` only.
import { basename } from 'node:path';
import { type Asset, findMimeType, type UploadOptions } from '@mediary/client';
import { openFile } from '@mediary/client/node';
import { z } from 'zod';
import { assetId, assetSchema, ownerUserId } from '../asset-fields.ts';
import { type ServiceClients, toCallOptions } from '../clients.ts';
import { resolveBelowRoot } from '../root-folder.ts';
import { defineTool, type ToolCall } from '../tool.ts';
import { ToolError } from '../tool-error.ts';

const path = z.string().min(1).describe('Below the root folder; a relative path starts there.');

export const uploadFile = defineTool({
  name: 'upload_file',
  title: 'Upload a file',
  description:
    'Uploads an image, video or audio file from the folder that --root of this server names, and returns ' +
    'the new asset. The asset is processing then: explain_asset tells when it is ready.',
  input: z.strictObject({
    path,
    title: z.string().max(500).optional(),
    tags: z.array(z.string().min(1).max(100)).max(50).optional(),
    metadata: z.record(z.string(), z.unknown()).optional().describe('JSON, at most 16 KiB.'),
    external_id: z.string().min(1).max(255).optional().describe('Unique among the assets of the owner.'),
    visibility: z
      .enum(['private', 'public'])
      .default('private')
      .describe('private: only signed URLs play the asset. public: everybody can.'),
    owner_user_id: ownerUserId,
  }),
  output: z.looseObject({ asset: assetSchema }),
  effect: 'adds',
  async run(clients, { path: file, external_id: externalId, owner_user_id, ...members }, call) {
    const options = { ...toCallOptions(owner_user_id, call.signal), ...members, externalId };
    return { data: { asset: await sendFile(clients, { path: file, options }, call) } };
  },
});

export const replaceFile = defineTool({
  name: 'replace_file',
  title: 'Replace the file of an asset',
  description:
    'Uploads another file of the same kind for an asset, whose id stays. The old file plays until the new ' +
    'one is ready, and roll_back brings it back for some days. Returns the replacement: explain_asset with ' +
    'its id tells when it is ready.',
  input: z.strictObject({
    id: assetId,
    path,
    keep: z
      .array(z.enum(['captions', 'chapters', 'focal_point', 'poster']))
      .optional()
      .describe('What the new file takes over from the old one; default: nothing.'),
    owner_user_id: ownerUserId,
  }),
  output: z.looseObject({ replacement: assetSchema }),
  effect: 'overwrites',
  async run(clients, { id, path: file, keep, owner_user_id }, call) {
    const options = { ...toCallOptions(owner_user_id, call.signal), replaces: id, keep };
    return { data: { replacement: await sendFile(clients, { path: file, options }, call) } };
  },
});

type SentFile = { readonly path: string; readonly options: Omit<UploadOptions, 'filename' | 'onProgress'> };

/** Other files than media, such as keys, are refused before they leave the machine. */
async function sendFile(
  clients: ServiceClients,
  { path: named, options }: SentFile,
  call: Pick<ToolCall, 'reportProgress'>,
): Promise<Asset> {
  const real = await resolveBelowRoot(clients.settings.root, named);
  const filename = basename(named);
  if (findMimeType(filename) === undefined || findMimeType(real) === undefined)
    throw new ToolError(`${named} is neither an image nor a video by its name.`, {
      errorCode: 'PATH_REFUSED',
      hint: 'Name a file such as film.mp4 or picture.jpg.',
    });
  return clients.assets().media.upload(await openFile(real), {
    ...options,
    filename,
    onProgress: ({ bytesSent, totalBytes }) => call.reportProgress(bytesSent, totalBytes),
  });
}
