// A video whose colour tells from which part of it a frame was taken.
import sharp, { type Sharp } from 'sharp';
import { makeClip } from '../clips/clips.ts';
import { type AssetJson, readAsset } from '../media.ts';
import { asUser, call, eventually, type TestService } from '../service.ts';

export type Colour = 'red' | 'green' | 'blue';

/** A filter: red, from 2 s green, from 4 s blue. */
export const CHANGES =
  "drawbox=color=red:t=fill:enable='lt(t,2)',drawbox=color=lime:t=fill:enable='gte(t,2)*lt(t,4)'," +
  "drawbox=color=blue:t=fill:enable='gte(t,4)'";

/** Six seconds: red, from 2 s green, from 4 s blue. The thumbnail that the service chooses is green. */
export const colourfulClip = (): Promise<string> =>
  makeClip({ seconds: 6, width: 160, height: 90, audio: false, more: ['-vf', CHANGES] });

type Thumbnail = {
  readonly colour: Colour;
  readonly etag: string | null;
  readonly cacheControl: string | null;
};

/** What a player of the asset's owner shows before it plays. */
export async function thumbnailOf(service: TestService, id: string): Promise<Thumbnail> {
  const { body } = await call<{ thumbnail: string }>(service, `GET /media/${id}/playback`, {
    headers: asUser('ann'),
  });
  return thumbnailAt(body.data.thumbnail);
}

/** The colour that most of a picture has. */
export async function colourOf(picture: Sharp): Promise<Colour> {
  // `stats` ignores the steps of a pipeline.
  const { channels } = await sharp(await picture.png().toBuffer()).stats();
  const [red = 0, green = 0, blue = 0] = channels.map(({ mean }) => mean);
  return red > green && red > blue ? 'red' : green > blue ? 'green' : 'blue';
}

export async function thumbnailAt(url: string): Promise<Thumbnail> {
  const answer = await fetch(url);
  if (answer.status !== 200) throw new Error(`thumbnail: ${answer.status}`);
  const colour = await colourOf(sharp(await answer.arrayBuffer()));
  return { colour, etag: answer.headers.get('etag'), cacheControl: answer.headers.get('cache-control') };
}

export const thumbnailTurns = (service: TestService, id: string, colour: Colour): Promise<Thumbnail> =>
  eventually(
    () => thumbnailOf(service, id),
    (thumbnail) => thumbnail.colour === colour,
  );

export const choosePoster = (service: TestService, id: string, poster_time_ms: unknown) =>
  call<AssetJson>(service, `PATCH /media/${id}`, { headers: asUser('ann'), json: { poster_time_ms } });

/** Waits until the service has nothing more to do about posters, and answers the asset. */
export async function postersDone(service: TestService, id: string): Promise<AssetJson> {
  await eventually(
    () => service.adapters.jobs.hasOpenJob('make-poster', { assetId: id }),
    (isOpen) => !isOpen,
  );
  return readAsset(service, 'ann', id);
}
