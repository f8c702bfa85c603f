// Adopts the files of a migration in place: the service copies or moves them within its own storage.
import { type Asset, type ImportRequest, MediaryError } from '@mediary/client';
import { type CommandContext, openOperatorApi } from '../context.ts';
import { usageError } from '../exit-codes.ts';
import type { ItemReport } from './item-report.ts';
import type { SourceItem } from './source.ts';

type Finding = Pick<ItemReport, 'asset_id' | 'result' | 'reason'>;

export type Adoption = {
  adopt(item: SourceItem, request: ImportRequest): Promise<Asset>;
  /** What the service would say: `new`, or why it refuses the file. */
  check(item: SourceItem, request: ImportRequest): Promise<Finding>;
};

type AdoptedAsset = { readonly asset: Asset | null };

type AdoptionOptions = {
  /** The service deletes each file once its asset was accepted. */
  readonly isMove: boolean;
  readonly maxRetries: number;
};

export async function openAdoption(
  context: CommandContext,
  { isMove, maxRetries }: AdoptionOptions,
): Promise<Adoption> {
  const { credential, owner } = await context.loadSettings();
  if (credential?.kind !== 'service key' || owner === undefined)
    throw usageError(
      'Files are adopted for an owner, with the service key and the operator key.',
      'Name the owner: --owner or MEDIARY_OWNER',
    );
  const api = await openOperatorApi(context);
  const send = ({ storageUrl: source }: SourceItem, request: ImportRequest, dryRun: boolean) => {
    const { url: _url, ...fields } = request;
    const options = { owner_user_id: owner, source, delete_source: isMove, dry_run: dryRun };
    // The service returns the asset that has the `external_id`, so that a repetition does no harm.
    return api.post<AdoptedAsset>('/adoptions', { ...fields, ...options }, maxRetries);
  };
  return {
    adopt: async (item, request) => {
      const { asset } = await send(item, request, false);
      if (!asset) throw new Error('the service returned no asset');
      return asset;
    },
    check: async (item, request) => {
      try {
        const { asset } = await send(item, request, true);
        return { asset_id: asset?.id ?? null, result: asset ? 'existing' : 'new', reason: null };
      } catch (error) {
        if (!isRefusal(error)) throw error;
        return { asset_id: null, result: 'not_movable', reason: error.message };
      }
    },
  };
}

const isRefusal = (error: unknown): error is MediaryError =>
  error instanceof MediaryError &&
  (error.errorCode === 'BAD_REQUEST' || error.errorCode === 'PAYLOAD_TOO_LARGE');
