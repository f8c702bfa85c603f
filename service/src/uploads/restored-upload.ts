// Uploads that an archive brings back: the same rules and checks as for an upload of a caller (contract B4).
import { FAILURE_CODES } from '@mediary/contract/failures';
import type { CreateUploadRequest } from '@mediary/contract/schemas/uploads';
import type { Asset } from '../assets/asset.ts';
import type { EventData } from '../assets/asset-event.ts';
import type { Completion } from '../lifecycle/decisions/decide-commands.ts';
import { badRequest } from '../platform/http/errors.ts';
import { checkContent, toCompletion } from './completion.ts';
import type { UploadsContext } from './context.ts';
import { type NewUpload, toNewAsset } from './upload-request.ts';

/** Throws as upload-url does. Where countries are not known, such assets play nowhere until they are. */
export const toRestoredUpload = (
  { settings, clocks }: UploadsContext,
  request: CreateUploadRequest,
): NewUpload =>
  toNewAsset(request, {
    isService: false,
    limits: { ...settings.newAssets, knowsCountries: true },
    now: clocks.now(),
  });

/**
 * Checks the stored original as `complete` does. Throws BAD_REQUEST with the code of rejected bytes, and
 * UNAVAILABLE when the disk of the database is nearly full.
 */
export async function checkRestoredUpload(
  ctx: UploadsContext,
  asset: Asset,
  actorData: EventData,
): Promise<Completion> {
  await ctx.admission.requireDatabaseSpace();
  const checked = await checkContent(ctx, asset);
  if (typeof checked === 'string') throw badRequest(FAILURE_CODES[checked], { reason: checked });
  return toCompletion(ctx, { asset, checked, actorData });
}
