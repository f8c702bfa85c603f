// The token that cdnhost's delivery host demands where a key is set there: one for all files below a folder.
import type { Secret } from '../../auth/secret.ts';
import { hmacSha256 } from '../../auth/signature.ts';

/** `folder` begins and ends with a slash; `expires`: seconds since 1970. */
export type TokenWish = { readonly key: Secret; readonly folder: string; readonly expires: number };

export const folderToken = ({ key, folder, expires }: TokenWish): string =>
  `HS256-${hmacSha256(key.key, folder, String(expires), `token_path=${folder}`).toString('base64url')}`;

/** The folder with the token before it: relative addresses keep what is in the path, and lose what is in the query. */
export const signedFolder = (wish: TokenWish): string =>
  `/bcdn_token=${folderToken(wish)}&token_path=${encodeURIComponent(wish.folder)}&expires=${wish.expires}${wish.folder}`;
