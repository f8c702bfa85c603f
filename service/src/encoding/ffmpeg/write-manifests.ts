// Writes the manifests of an encode whose phases have ended.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EncodedFile } from '../encoder.ts';
import { type CmafTrack, playlistName } from '../model/cmaf-track.ts';
import { formatDashManifest } from '../packaging/dash-manifest.ts';
import { formatMediaPlaylist, formatMultivariantPlaylist } from '../packaging/hls-playlist.ts';
import {
  findIFrameTracks,
  formatIFramePlaylist,
  formatIFrameStreams,
  iFramePlaylistName,
} from '../packaging/i-frame-playlist.ts';
import { formatEarlyManifests } from '../packaging/playable-part.ts';
import type { PlannedEncode } from './planned-encode.ts';

export async function writeManifests(
  { session: { request }, source, phases, replacedTrack }: PlannedEncode,
  tracks: readonly CmafTrack[],
  listed: readonly CmafTrack[],
): Promise<EncodedFile[]> {
  const { childFolder } = request;
  const { frameRate } = source.timeline;
  const presentation = { tracks: listed, frameRate, childFolder };
  const iFrames = findIFrameTracks(listed);
  const early = tracks.filter(({ id }) => phases[0]?.trackIds.includes(id));
  const manifests = [
    {
      name: 'hls.m3u8',
      text: formatMultivariantPlaylist(presentation) + formatIFrameStreams(iFrames, childFolder),
    },
    { name: 'dash.mpd', text: formatDashManifest(presentation) },
    ...listed.map((track) => ({ name: playlistName(track.id), text: formatMediaPlaylist(track) })),
    ...iFrames.map((each) => ({
      name: iFramePlaylistName(each.track.id),
      text: formatIFramePlaylist(each),
    })),
    ...formatEarlyManifests(
      { ...presentation, tracks: early },
      early.filter(({ id }) => id === replacedTrack),
    ),
  ];
  return Promise.all(
    manifests.map(async ({ name, text }) => {
      const path = join(request.workFolder, name);
      await writeFile(path, text);
      return { name, path };
    }),
  );
}
