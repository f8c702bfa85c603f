// Encodes a source and writes the result to a folder as clients see it.
import { mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type {
  ChunkRunner,
  EncodedFile,
  EncodeRequest,
  Encoder,
  Encoding,
} from '../../../service/src/encoding/encoder.ts';
import { openFfmpegEncoder } from '../../../service/src/encoding/ffmpeg/ffmpeg-encoder.ts';
import type { Hardware } from '../../../service/src/encoding/ffmpeg/ffmpeg-session.ts';
import { playlistName } from '../../../service/src/encoding/model/cmaf-track.ts';
import { iFramePlaylistName } from '../../../service/src/encoding/packaging/i-frame-playlist.ts';
import { EARLY_DASH_NAME, renderManifest } from '../../../service/src/encoding/packaging/manifests.ts';
import {
  INDEX_NAME,
  listedTracks,
  parseIndex,
  type RunIndex,
} from '../../../service/src/encoding/packaging/run-index.ts';
import type { LoudnessTarget } from '../../../service/src/encoding/plan/arguments/normalization.ts';
import type { Ladder } from '../../../service/src/encoding/plan/ladder/ladder.ts';
import type { DashFiles } from '../playback/check-dash.ts';
import type { HlsFiles } from '../playback/check-hls.ts';
import { ffmpegPath } from './clips.ts';
import { encodeWhole } from '../encoding/whole-encode.ts';

/** `hls.m3u8` and `dash.mpd` lie in one folder, everything else in `1-1` below it; gone when disposed. */
export type Film = Encoding &
  AsyncDisposable & { readonly path: (name: string) => string; readonly index: RunIndex };

export type FilmOptions = Partial<
  Pick<EncodeRequest, 'container' | 'posterTimeMs' | 'signal' | 'onProgress'>
> & {
  readonly ladder?: Ladder;
  readonly loudness?: LoudnessTarget;
  /** Another binary than that of the tests. */
  readonly ffmpeg?: string;
  /** Encodes in chunks of at least this length, one after another. */
  readonly chunkSeconds?: number;
  readonly hardware?: Hardware;
};

const ABOVE = ['hls.m3u8', 'dash.mpd'];
const CHILDREN = '1-1';

export async function encodeFilm(
  source: string,
  { ladder, loudness, chunkSeconds, hardware, ffmpeg = ffmpegPath(), ...options }: FilmOptions = {},
): Promise<Film> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-film-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const path = (name: string) => (ABOVE.includes(name) ? join(folder, name) : join(folder, CHILDREN, name));
  try {
    const workFolder = join(folder, CHILDREN);
    await mkdir(workFolder);
    const encoder = openFfmpegEncoder({ ffmpegPath: ffmpeg, ladder, loudness, hardware });
    const stored: EncodedFile[] = [];
    const order = {
      source,
      container: 'mov',
      workFolder,
      signal: new AbortController().signal,
      onProgress: () => {},
      chunkSeconds,
      ...options,
    } as const;
    const encodeChunks = chunkSeconds ? localChunks(encoder, order, stored) : undefined;
    const encoding = await encodeWhole(encoder, { ...order, encodeChunks });
    const index = parseIndex(await readFile(path(INDEX_NAME), 'utf8'));
    for (const { name, text } of renderAll(index)) await writeFile(path(name), text);
    const files = [...encoding.files, ...stored];
    return { ...encoding, files, path, index, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Every manifest that players may ask for. */
const renderAll = (index: RunIndex) =>
  [
    ...[...ABOVE, EARLY_DASH_NAME],
    ...index.tracks.flatMap(({ id }) => [playlistName(id), iFramePlaylistName(id)]),
  ].flatMap((name) => {
    const text = renderManifest(index, { name, folder: CHILDREN, captions: [] });
    return text === undefined ? [] : [{ name, text }];
  });

/** Stores the segments beside the others of the film. */
const localChunks =
  (encoder: Encoder, { source, workFolder }: EncodeRequest, stored: EncodedFile[]): ChunkRunner =>
  async (specs, onDone) => {
    const signal = new AbortController().signal;
    const chunks = [];
    for (const spec of specs) {
      const folder = await mkdtemp(join(tmpdir(), 'mediary-chunk-'));
      const tracks = await encoder.encodeChunk({ source, workFolder: folder, spec, signal });
      for (const { name } of tracks.flatMap(({ segments }) => segments)) {
        await rename(join(folder, name), join(workFolder, name));
        stored.push({ name, path: join(workFolder, name) });
      }
      await rm(folder, { recursive: true });
      chunks.push(tracks);
      onDone(spec.chunk.firstFrame + spec.chunk.frames);
    }
    return chunks;
  };

const WITH_AUDIO_VARIANT = {
  name: 'hls.m3u8',
  folder: CHILDREN,
  captions: [],
  hasAudioVariant: true,
} as const;

/** The manifests and the sizes of the files that they name, for the checks of manifests. */
export async function manifestsOf({ files, path, index }: Film): Promise<HlsFiles & DashFiles> {
  const playlists = listedTracks(index).map(({ id }) => playlistName(id));
  return {
    multivariant: renderManifest(index, WITH_AUDIO_VARIANT) ?? '',
    manifest: await readFile(path('dash.mpd'), 'utf8'),
    playlists: new Map(
      await Promise.all(
        playlists.map(async (name) => [`${CHILDREN}/${name}`, await readFile(path(name), 'utf8')] as const),
      ),
    ),
    sizes: new Map(
      await Promise.all(files.map(async (file) => [file.name, (await stat(file.path)).size] as const)),
    ),
  };
}
