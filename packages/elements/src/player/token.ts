// Tokens of the player: access tokens of a user (JWT), and playback tokens, as in playback URLs.

/** A JWT has three parts; a playback token has one. */
export const isAccessToken = (token: string): boolean => token.split('.').length === 3;

const MAC_BYTES = 16;

/**
 * Of a playback token, in milliseconds since 1970: the MAC is followed by `expires:version:id`. Undefined if
 * the token is not of this form; the player then renews it when the service refuses it.
 */
export function readTokenExpiry(token: string): number | undefined {
  try {
    const payload = atob(token.replaceAll('-', '+').replaceAll('_', '/')).slice(MAC_BYTES);
    const [, seconds] = /^(\d{1,12}):/.exec(payload) ?? [];
    return seconds === undefined ? undefined : Number(seconds) * 1000;
  } catch {
    return undefined;
  }
}

const TOKEN_FOLDER = /^(https?:\/\/.*\/)~[^/]+\/(.*)$/;

/**
 * The same file with the token of `current`, so that a player continues with a new token. Addresses of other
 * folders stay as they are.
 */
export function withTokenOf(current: string, url: string): string {
  const [, folder] = TOKEN_FOLDER.exec(url) ?? [];
  const [, currentFolder, manifest] = TOKEN_FOLDER.exec(current) ?? [];
  if (folder === undefined || folder !== currentFolder || manifest === undefined) return url;
  return current.slice(0, -manifest.length) + url.replace(TOKEN_FOLDER, '$2');
}

const LEAD_MS = 60_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** A token that is refused right after it was renewed will not be accepted later. */
export const SHORTEST_RENEWAL_MS = 10_000;

/**
 * Milliseconds until a token is renewed: a minute before it ends, or after half of a shorter life. Undefined
 * for one that has ended: the clock of the viewer may be ahead, and each new token looks the same. The player
 * renews it when the service refuses it.
 */
export function renewalDelay(expiresAt: number, now: number): number | undefined {
  const left = expiresAt - now;
  if (left <= 0) return undefined;
  return Math.min(LONGEST_TIMER_MS, Math.max(SHORTEST_RENEWAL_MS, left / 2, left - LEAD_MS));
}
