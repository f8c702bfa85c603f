// Uploads films, cuts clips from them, and finds what players get of both.
import { expect } from 'vitest';
import { type ClipOptions, makeClip } from './clips.ts';
import { type AssetJson, ingest, settled } from '../media.ts';
import { CLEAN, decode, playlistsOf } from './picture-and-sound.ts';
import { type Answer, asUser, call, type TestService } from '../service.ts';

const TYPES = { mp4: 'video/mp4', webm: 'video/webm', ts: 'video/mp2t' } as const;
export type FilmOptions = ClipOptions & { readonly container?: keyof typeof TYPES };

/** Resolves when the film is ready. */
export async function uploadFilm(service: TestService, film: FilmOptions): Promise<AssetJson> {
  const asset = await ingest(service, 'ann', {
    file: await makeClip(film),
    fields: { mime_type: TYPES[film.container ?? 'mp4'], filename: 'holiday film.mov' },
  });
  expect(asset).toMatchObject({ stream_status: 'ready' });
  return asset;
}

type ClipRequest = { readonly id: string; readonly json: object; readonly headers?: Record<string, string> };

export const requestClip = (
  service: TestService,
  { id, json, headers = asUser('ann') }: ClipRequest,
): Promise<Answer<AssetJson>> => call<AssetJson>(service, `POST /media/${id}/clip`, { headers, json });

/** Resolves when the clip is ready or has failed. */
export async function cutClip(service: TestService, id: string, json: object): Promise<AssetJson> {
  const answer = await requestClip(service, { id, json });
  expect(answer.body).toMatchObject({ success: true, message: 'Clip started' });
  expect(answer.body.data).toMatchObject({ stream_status: 'pending_upload', size_bytes: null });
  return settled(service, 'ann', answer.body.data.id);
}

/** The best picture and the sound, as players get them. */
export async function playedStreams(service: TestService, id: string) {
  const { body } = await call<{ readonly hls: string }>(service, `GET /media/${id}/playback`, {
    headers: asUser('ann'),
  });
  expect(await decode(body.data.hls)).toEqual(CLEAN);
  const { pictures, sounds } = await playlistsOf(body.data.hls);
  return {
    picture: { url: pictures[0] ?? '', stream: 'v:0' },
    sound: { url: sounds[0] ?? '', stream: 'a:0' },
  };
}
