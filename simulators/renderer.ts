// Creates playback files from uploaded bytes: one small rendition with ffmpeg (HLS, DASH, MP4, image), or
// placeholders without it.
import { execFile } from 'node:child_process';
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type SourceFacts = {
  readonly width: number;
  readonly height: number;
  readonly seconds: number;
  readonly fps: number;
};
type RenderJob = {
  readonly source: string;
  readonly folder: string;
  /** Name of the first playlist. */
  readonly master: string;
};
/** Undefined when the source is not a video. */
export type Renderer = (job: RenderJob) => Promise<SourceFacts | undefined>;

/** Assumed properties of a video without ffmpeg. */
const ASSUMED: SourceFacts = { width: 1280, height: 720, seconds: 10, fps: 30 };
const upTo = (height: number) => ['-vf', `scale=-2:'trunc(min(${height},ih)/2)*2'`];
const SMALL = [
  ...upTo(240),
  '-c:v',
  'libx264',
  '-preset',
  'ultrafast',
  '-pix_fmt',
  'yuv420p',
  '-g',
  '48',
  '-b:v',
  '400k',
  '-c:a',
  'aac',
  '-ac',
  '2',
  '-b:a',
  '64k',
];
const PICTURE = ['-map', '0:v:0', '-frames:v', '1', '-update', '1', ...upTo(360)];
const TRACKS = ['-map', '0:v:0', '-map', '0:a:0?'];

export function ffmpegRenderer(ffmpegPath: string, signal: AbortSignal): Renderer {
  const limits = { signal, killSignal: 'SIGKILL', timeout: 120_000, maxBuffer: 16 * 1024 * 1024 } as const;
  const engine = async (input: string, output: readonly string[]) =>
    (await run(ffmpegPath, ['-hide_banner', '-nostdin', '-nostats', '-y', '-i', input, ...output], limits))
      .stderr;
  return async ({ source, folder, master }) => {
    const [mp4, picture, mpd] = ['small.mp4', 'thumbnail.jpg', 'video.mpd'].map((name) =>
      join(folder, name),
    ) as [string, string, string];
    await mkdir(folder, { recursive: true });
    try {
      const words = await engine(source, [
        ...TRACKS,
        ...SMALL,
        '-movflags',
        '+faststart',
        mp4,
        ...PICTURE,
        picture,
      ]);
      await engine(mp4, [
        '-map',
        '0',
        '-c',
        'copy',
        '-f',
        'dash',
        '-seg_duration',
        '2',
        '-hls_playlist',
        '1',
        '-hls_master_name',
        master,
        mpd,
      ]);
      return factsIn(words);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
      return undefined; // ffmpeg cannot read the file, so it is not a video.
    }
  };
}

/** Parses ffmpeg's description of its input. */
function factsIn(stderr: string): SourceFacts | undefined {
  const [, hours, minutes, seconds] = /Duration: (\d+):(\d+):([\d.]+)/.exec(stderr) ?? [];
  const [line, width, height] = /Stream #0.*Video: .*?\b(\d{2,5})x(\d{2,5})\b.*/.exec(stderr) ?? [];
  if (!line) return undefined;
  const duration = Number(hours ?? 0) * 3600 + Number(minutes ?? 0) * 60 + Number(seconds ?? 0);
  return {
    width: Number(width),
    height: Number(height),
    seconds: duration,
    fps: Number(/([\d.]+) fps/.exec(line)?.[1] ?? 0),
  };
}

const MASTER = `#EXTM3U
#EXT-X-VERSION:7
#EXT-X-STREAM-INF:BANDWIDTH=500000,RESOLUTION=426x240,CODECS="avc1.42c015,mp4a.40.2"
media_0.m3u8
`;
const MEDIA = `#EXTM3U
#EXT-X-VERSION:7
#EXT-X-TARGETDURATION:10
#EXT-X-PLAYLIST-TYPE:VOD
#EXT-X-MAP:URI="init-stream0.m4s"
#EXTINF:10.0,
chunk-stream0-00001.m4s
#EXT-X-ENDLIST
`;
const MPD = `<?xml version="1.0" encoding="utf-8"?>
<MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" type="static"
     mediaPresentationDuration="PT10S" minBufferTime="PT2S">
  <Period duration="PT10S"/>
</MPD>
`;
const GREY_PICTURE = [
  '/9j/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqmx5moq6T/2wBD',
  'ARweHigjKE4rK06kbl1upKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKSkpKT/wAARCAAJABAD',
  'ASIAAhEBAxEB/8QAFAABAAAAAAAAAAAAAAAAAAAAAP/EABQQAQAAAAAAAAAAAAAAAAAAAAD/xAAUAQEAAAAAAAAAAAAAAAAAAAAA',
  '/8QAFBEBAAAAAAAAAAAAAAAAAAAAAP/aAAwDAQACEQMRAD8AAA//2Q==',
].join('');

/** Valid playlists without segments, and a small grey image. */
export const placeholderRenderer: Renderer = async ({ source, folder, master }) => {
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, master), MASTER);
  await writeFile(join(folder, 'media_0.m3u8'), MEDIA);
  await writeFile(join(folder, 'video.mpd'), MPD);
  await writeFile(join(folder, 'thumbnail.jpg'), Buffer.from(GREY_PICTURE, 'base64'));
  await copyFile(source, join(folder, 'small.mp4'));
  return ASSUMED;
};
