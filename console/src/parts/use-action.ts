// Changes of assets that people make by a button.
import type { Asset, CallOptions } from '@mediary/client';
import { notifications } from '@mantine/notifications';
import type { ConsoleSession } from '@mediary/contract/schemas/admin/console';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { refreshAssets } from '../api/assets.ts';
import { describe } from './problem.tsx';

/** Runs a change, reads the assets again, and shows what the service refuses. */
export function useAction() {
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (action: () => Promise<unknown>) => action(),
    onSettled: () => refreshAssets(queries),
    onError: showError,
  });
}

export function showError(error: unknown): void {
  const { title, message } = describe(error);
  notifications.show({ color: 'red', title, message, autoClose: false });
}

/** Operators and services name the owner of what they change. */
export const ownerOptions = ({ kind }: ConsoleSession, asset: Asset): CallOptions =>
  kind === 'user' ? {} : { ownerUserId: asset.owner_user_id };
