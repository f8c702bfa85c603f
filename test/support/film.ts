// Encodes a source and writes the result to a folder as clients see it.
import { copyFile, mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EncodeRequest, Encoding } from '../../service/src/encoding/encoder.ts';
import { openFfmpegEncoder } from '../../service/src/encoding/ffmpeg/ffmpeg-encoder.ts';
import type { Ladder } from '../../service/src/encoding/plan/ladder.ts';
import type { DashFiles } from './check-dash.ts';
import type { HlsFiles } from './check-hls.ts';
import { ffmpegPath } from './clips.ts';

/** `hls.m3u8` and `dash.mpd` lie in one folder, everything else in `1-1` below it; gone when disposed. */
export type Film = Encoding & AsyncDisposable & { readonly path: (name: string) => string };

export type FilmOptions = Partial<
  Pick<EncodeRequest, 'container' | 'posterTimeMs' | 'signal' | 'onProgress'>
> & { readonly ladder?: Ladder };

const ABOVE = ['hls.m3u8', 'dash.mpd'];
const CHILDREN = '1-1';

export async function encodeFilm(source: string, { ladder, ...options }: FilmOptions = {}): Promise<Film> {
  const folder = await mkdtemp(join(tmpdir(), 'mediary-film-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  const path = (name: string) => (ABOVE.includes(name) ? join(folder, name) : join(folder, CHILDREN, name));
  try {
    const workFolder = join(folder, CHILDREN);
    await mkdir(workFolder);
    const order = {
      source,
      container: 'mov',
      workFolder,
      childFolder: CHILDREN,
      signal: new AbortController().signal,
      onProgress: () => {},
      ...options,
    } as const;
    const encoding = await openFfmpegEncoder({ ffmpegPath: ffmpegPath(), ladder }).encode(order);
    for (const name of ABOVE) await copyFile(join(workFolder, name), path(name));
    return { ...encoding, path, [Symbol.asyncDispose]: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** The manifests and the sizes of the files that they name, for the checks of manifests. */
export async function manifestsOf({ files, path }: Film): Promise<HlsFiles & DashFiles> {
  const playlists = files.map(({ name }) => name).filter((name) => /^r\d+\.m3u8$/.test(name));
  return {
    multivariant: await readFile(path('hls.m3u8'), 'utf8'),
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
