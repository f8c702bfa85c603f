// What code blocks of the documents use without showing it: the application around them.
import type { UploadTarget } from '@mediary/client';

type Members<Union> = Union extends unknown ? keyof Union : never;
type MemberOf<Union, Name extends PropertyKey> = Union extends Record<Name, infer Value> ? Value : never;
/** A target whose protocol the code knows. */
type AnyTarget = { [Name in Members<UploadTarget>]: MemberOf<UploadTarget, Name> };

declare global {
  const API: string;
  const file: File;
  /** The response of `POST /media/upload-url`. */
  const opened: { asset_id: string; upload: AnyTarget; alternatives: AnyTarget[] };
  const upload: AnyTarget;
  function openUpload(details: object): Promise<typeof opened>;
  function completeUpload(assetId: string): void;
  function showError(error: Error): void;
  function showProgress(share: number): void;
  function showAsset(asset: object): void;
  function getToken(): Promise<string>;
  /** Of the back end in "Upload from a browser". */
  function media(
    method: string,
    path: string,
  ): Promise<{ status: number; json: { data: { image: string } } }>;
}
