// `upload_file`: sends a local file below the root folder. Offered with `--write` only.
import { basename } from 'node:path';
import { findMimeType } from '@mediary/client';
import { openFile } from '@mediary/client/node';
import { z } from 'zod';
import { assetSchema, ownerUserId } from '../asset-fields.ts';
import { toCallOptions } from '../clients.ts';
import { resolveBelowRoot } from '../root-folder.ts';
import { defineTool } from '../tool.ts';
import { ToolError } from '../tool-error.ts';

export const uploadFile = defineTool({
  name: 'upload_file',
  title: 'Upload a file',
  description:
    'Uploads an image, video or audio file from the folder that --root of this server names, and returns ' +
    'the new asset. The asset is processing then: explain_asset tells when it is ready.',
  input: z.strictObject({
    path: z.string().min(1).describe('Below the root folder; a relative path starts there.'),
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
  async run(clients, { path, external_id: externalId, owner_user_id, ...members }, call) {
    const real = await resolveBelowRoot(clients.settings.root, path);
    const filename = basename(path);
    // Other files, such as keys, are refused before they leave the machine.
    if (findMimeType(filename) === undefined || findMimeType(real) === undefined)
      throw new ToolError(`${path} is neither an image nor a video by its name.`, {
        errorCode: 'PATH_REFUSED',
        hint: 'Name a file such as film.mp4 or picture.jpg.',
      });
    const asset = await clients.assets().media.upload(await openFile(real), {
      ...toCallOptions(owner_user_id, call.signal),
      ...members,
      externalId,
      filename,
      onProgress: ({ bytesSent, totalBytes }) => call.reportProgress(bytesSent, totalBytes),
    });
    return { data: { asset } };
  },
});
