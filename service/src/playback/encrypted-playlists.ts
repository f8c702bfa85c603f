// Rewrites HLS playlists for players of an encrypted video; the stored ones are those of the plain video
// (RFC 8216, 4.3.2.4).

const I_FRAMES = '#EXT-X-I-FRAME-STREAM-INF:';
/** The padding of a segment of picture and one of sound, also of very short ones. */
const PADDING_BITS_PER_SECOND = 4000;

/**
 * Names the media playlists in the folder of the key, so that no cache mixes them with plain ones. I-frame
 * playlists are left out: their ranges of plain segments are no ranges of encrypted ones.
 */
export function encryptMultivariantPlaylist(playlist: string, folder: string, keyId: string): string {
  const [plain, encrypted] = [`${folder}/`, `${folder}/${keyId}/`];
  const rename = (line: string) =>
    line.startsWith(plain)
      ? `${encrypted}${line.slice(plain.length)}`
      : line
          .replace(`,URI="${plain}`, `,URI="${encrypted}`)
          .replace(/:BANDWIDTH=(\d+)/, (_, bits) => `:BANDWIDTH=${Number(bits) + PADDING_BITS_PER_SECOND}`);
  return playlist
    .split('\n')
    .filter((line) => !line.startsWith(I_FRAMES))
    .map(rename)
    .join('\n');
}

/**
 * The init segment precedes the key, so it is plain: it has no samples, and not every player decrypts it.
 * Media sequence numbers are those in the names, so the IV of a segment follows from its name.
 */
export const encryptMediaPlaylist = (playlist: string, keyUri: string): string =>
  playlist.replace(
    /^#EXT-X-MAP:.*$/m,
    (map) =>
      `#EXT-X-MEDIA-SEQUENCE:${firstSegmentNumber(playlist)}\n${map}\n` +
      `#EXT-X-KEY:METHOD=AES-128,URI="${keyUri}"`,
  );

/** Names end in consecutive numbers. */
function firstSegmentNumber(playlist: string): number {
  const number = /^[^#\n].*-(\d+)\.m4s$/m.exec(playlist)?.[1];
  if (number === undefined) throw new Error('the playlist has no numbered segment');
  return Number(number);
}
