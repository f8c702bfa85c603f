// Encodes a video as workers do, in one folder: what makes it playable, then the other renditions.
import { join } from 'node:path';
import type {
  ChunkRunner,
  EncodedFile,
  EncodeRequest,
  Encoder,
  Encoding,
} from '../../../service/src/encoding/encoder.ts';

type WholeEncode = EncodeRequest & { readonly encodeChunks?: ChunkRunner | undefined };

/** The files are those of both parts. */
export async function encodeWhole(
  encoder: Encoder,
  { encodeChunks, ...request }: WholeEncode,
): Promise<Encoding> {
  const published: EncodedFile[] = [];
  const started = await encoder.startEncode({
    ...request,
    onPlayable: async (part) => {
      published.push(...part.files);
      await request.onPlayable?.(part);
    },
  });
  if ('encoding' in started) return { ...started.encoding, files: [...started.encoding.files, ...published] };
  const encoding = await encoder.continueEncode({
    ...request,
    // As another worker reads it from the database.
    checkpoint: JSON.parse(JSON.stringify(started.checkpoint)),
    encodeChunks,
    openSegment: async (name) => join(request.workFolder, name),
  });
  return { ...encoding, files: [...published, ...encoding.files] };
}
