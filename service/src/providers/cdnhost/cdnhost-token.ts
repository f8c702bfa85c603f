// Signs tokens for the cdnhost delivery host; one token covers all files of a folder.
import type { Secret } from '../../auth/secret.ts';
import { hmacSha256 } from '../../auth/signature.ts';

/** `folder` starts and ends with a slash. `expires` is in seconds since 1970. */
type TokenWish = { readonly key: Secret; readonly folder: string; readonly expires: number };

export const folderToken = ({ key, folder, expires }: TokenWish): string =>
  `HS256-${hmacSha256(key.key, folder, String(expires), `token_path=${folder}`).toString('base64url')}`;

/** The token is in the path, because relative URLs keep the path but not the query. */
export const signedFolder = (wish: TokenWish): string =>
  `/bcdn_token=${folderToken(wish)}&token_path=${encodeURIComponent(wish.folder)}&expires=${wish.expires}${wish.folder}`;
