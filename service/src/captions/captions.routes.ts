// Lists, stores, returns and deletes captions of videos.
import {
  CAPTION_TYPES,
  deleteCaptions,
  getCaptions,
  listCaptions,
  MAX_CAPTION_BYTES,
  putCaptions,
} from '@mediary/contract/operations/captions';
import type { Caption as CaptionView } from '@mediary/contract/schemas/captions';
import type { Caption } from '../assets/asset.ts';
import { toActorData } from '../assets/asset-event.ts';
import { badRequest } from '../platform/http/errors.ts';
import { success } from '../platform/http/envelope.ts';
import { captionKey } from '../storage/object-key.ts';
import { parseCaptionFile } from './caption-file.ts';
import { requireCaption } from './caption-list.ts';
import { parseLabel, parseLanguage, toLanguage } from './caption-request.ts';
import { deleteCaption, putCaption } from './captions.ts';
import type { CaptionsContext } from './context.ts';

export const captionRoutes = (ctx: CaptionsContext) => [
  ctx.guards.ownAsset(listCaptions, async ({ asset }) => ({
    next_cursor: null,
    items: (asset.captions ?? []).map(toCaptionView),
  })),
  ctx.guards.changingAssetBytes(putCaptions, {
    body: { maxBytes: MAX_CAPTION_BYTES },
    parse: ({ params, query, body, headers }) => {
      const language = parseLanguage(params.lang);
      const mustBeVtt = parseType(headers['content-type']) === 'text/vtt';
      const bytes = body instanceof Uint8Array ? body : Buffer.alloc(0);
      return {
        language,
        label: parseLabel(query.label, language),
        file: parseCaptionFile(bytes, { mustBeVtt }),
      };
    },
    handle: async ({ asset, actor, language, label, file, query }, { request }) => {
      const { kind, default: isDefault } = query;
      const upload = { language, label, kind, isDefault, file, actorData: toActorData(actor, asset) };
      const stored = await putCaption(ctx, asset, upload);
      return success(request.id, putCaptions.message ?? '', toCaptionView(stored));
    },
  }),
  ctx.guards.ownAssetBytes(getCaptions, {
    parse: () => ({}),
    handle: async ({ asset, params }, { request, reply }) => {
      const { fileId } = requireCaption(asset, toKnownLanguage(params.lang));
      const { status, headers, body } = await ctx.objects.sendObject(
        { request, reply },
        { key: captionKey(asset.id, fileId), etag: fileId, headers: OWN_HEADERS },
      );
      return reply.code(status).headers(headers).send(body);
    },
  }),
  ctx.guards.changingAsset(deleteCaptions, async ({ asset, actor, params }) => {
    const language = toKnownLanguage(params.lang);
    await deleteCaption(ctx, asset, { language, actorData: toActorData(actor, asset) });
    return { language, deleted: true as const };
  }),
];

const OWN_HEADERS = { 'content-type': 'text/vtt; charset=utf-8', 'cache-control': 'private, no-cache' };

/** An asset has no captions under what is no tag. */
const toKnownLanguage = (tag: string): string => toLanguage(tag) ?? tag;

/** Browsers send no type for a file with an ending that they do not know. */
function parseType(header: string | undefined): string {
  const type = header?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (type === '' || CAPTION_TYPES.some((allowed) => allowed === type)) return type;
  throw badRequest(`Content-Type must be one of ${CAPTION_TYPES.join(', ')}`, {
    field: 'Content-Type',
    allowed: CAPTION_TYPES,
  });
}

const toCaptionView = ({ language, label, kind, ...caption }: Caption): CaptionView => ({
  language,
  label,
  kind,
  default: caption.isDefault,
  source: caption.isEmbedded ? 'embedded' : 'caller',
  size_bytes: caption.sizeBytes,
  updated_at: caption.updatedAt,
});
