// Creates clips: assets whose bytes the service cuts from the original of another video (contract B4).
import type { ClipRequest } from '@mediary/contract/schemas/clips';
import type { Asset } from '../../assets/asset.ts';
import { type Actor, toActorData } from '../../assets/asset-event.ts';
import type { ServiceJobs } from '../../jobs.ts';
import type { AssetStore } from '../../lifecycle/store.ts';
import type { Bound } from '../../platform/bind.ts';
import { badRequest } from '../../platform/http/errors.ts';
import { timeOf } from '../../platform/values/uuid.ts';
import { uuidV7 } from '../../platform/values/uuid-v7.ts';
import type { isHosted } from '../../providers/hosted-playback.ts';
import { toClipSource, toClipUpload } from './clip-request.ts';
import { insertClip } from './clips.sql.ts';
import { toNewAsset, type UploadLimits } from '../upload-request.ts';

type ClipNeeds = {
  readonly createAsset: AssetStore['createAsset'];
  readonly jobs: Pick<ServiceJobs, 'sendFor'>;
  readonly isHosted: Bound<typeof isHosted>;
  readonly limits: UploadLimits;
  readonly now: () => Date;
};

/** `resourceId`: the id for the new asset if the request carries an Idempotency-Key. */
type CreateClipInput = {
  readonly actor: Actor;
  readonly source: Asset;
  readonly request: ClipRequest;
  readonly resourceId: string | undefined;
};

/** Creates the asset for the owner of the source, and in the same transaction the job that cuts it. */
export async function createClip(
  needs: ClipNeeds,
  { actor, source, request, resourceId }: CreateClipInput,
): Promise<Asset> {
  const { limits } = needs;
  const clipOf = toClipSource(source, request, needs.isHosted(source));
  const upload = toNewAsset(toClipUpload(source, request), { isService: false, limits });
  if (upload.provider !== null && limits.hostedProviders.includes(upload.provider))
    throw badRequest(
      `A clip cannot be a video of provider ${upload.provider}, which takes uploads itself. Omit provider.`,
      { field: 'provider' },
    );
  const id = resourceId ?? uuidV7(needs.now().getTime());
  const now = timeOf(id);
  const owner = source.owner_user_id;
  const newAsset = {
    ...upload,
    id,
    owner_user_id: owner,
    upload_expires_at: new Date(now.getTime() + limits.uploadTtlSeconds * 1000),
    reconcile_at: null,
    clip_of: clipOf,
    created_at: now,
  };
  return needs.createAsset(
    newAsset,
    { ...toActorData(actor, newAsset), clip_of: clipOf },
    {
      alongside: async (tx) => {
        await insertClip(tx, id);
        await needs.jobs.sendFor(tx, owner, { name: 'clip-asset', payload: { assetId: id, attempt: 1 } });
      },
    },
  );
}
