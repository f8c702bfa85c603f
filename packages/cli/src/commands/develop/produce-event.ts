// Makes the service produce an event: uploads a small sample, changes its asset, and waits for the event.
import {
  AssetFailedError,
  type Mediary,
  type PublishedEventType,
  type StreamedEvent,
  TimeoutError,
  UploadError,
} from '@mediary/client';
import type { Client } from '../../client.ts';

type Scenario = {
  /** Default: a picture. `none`: the asset stays without bytes. */
  readonly sample?: 'corrupt video' | 'none';
  /** Runs when the asset is ready. */
  readonly change?: (media: Mediary['media'], id: string, options: Client['options']) => Promise<unknown>;
};

const SCENARIOS = {
  'asset.created': { sample: 'none' },
  'asset.uploaded': {},
  'asset.processing': {},
  'asset.playable': {},
  'asset.ready': {},
  'asset.failed': { sample: 'corrupt video' },
  'asset.updated': {
    change: (media, id, options) => media.update(id, { title: 'Changed by mediary trigger' }, options),
  },
  'asset.deleted': { change: (media, id, options) => media.delete(id, { ...options, trash: true }) },
  'asset.restored': {
    change: async (media, id, options) => {
      await media.delete(id, { ...options, trash: true });
      await media.restore(id, options);
    },
  },
  'asset.replaced': {
    change: (media, id, options) => {
      const { name: filename, mimeType, bytes } = PICTURE;
      return media.upload(new Blob([bytes()]), { ...options, filename, mimeType, replaces: id });
    },
  },
} as const satisfies { readonly [Type in PublishedEventType]?: Scenario };

type ProducibleType = keyof typeof SCENARIOS;

export const PRODUCIBLE = Object.keys(SCENARIOS) as ProducibleType[];

export const isProducible = (type: PublishedEventType): type is ProducibleType => type in SCENARIOS;

type ProduceOptions = { readonly externalId: string | undefined; readonly timeoutS: number };

/** Throws where the asset fails instead, or the event does not arrive in time. */
export async function produceEvent(
  { mediary, options }: Client,
  type: ProducibleType,
  { externalId, timeoutS }: ProduceOptions,
): Promise<StreamedEvent> {
  const ended = new AbortController();
  const late = new TimeoutError(`${type} did not arrive within ${timeoutS} s.`);
  const timer = setTimeout(() => ended.abort(late), timeoutS * 1000);
  const signal = options.signal ? AbortSignal.any([options.signal, ended.signal]) : ended.signal;
  const scenario: Scenario = SCENARIOS[type];
  try {
    const id = await createAsset(mediary, scenario, {
      options: { ...options, signal },
      externalId,
      onError: (error) => ended.abort(error),
    });
    // From the beginning, so that nothing is missed that has happened already.
    for await (const event of mediary.media.events(id, { signal, lastEventId: 'beginning' })) {
      if (event.type === type) return event;
      if (event.type === 'asset.failed' && event.asset) throw new AssetFailedError(event.asset);
      if (event.type === 'asset.ready') await scenario.change?.(mediary.media, id, { ...options, signal });
    }
    throw late;
  } finally {
    clearTimeout(timer);
  }
}

type NewSample = {
  readonly options: Client['options'];
  readonly externalId: string | undefined;
  /** Called if the upload fails after the asset was created. */
  readonly onError: (error: unknown) => void;
};

/** Returns the id before the bytes are sent. */
async function createAsset(
  { media }: Mediary,
  { sample }: Scenario,
  { options, externalId, onError }: NewSample,
): Promise<string> {
  if (sample === 'none') {
    const request = { filename: PICTURE.name, content_type: 'image', mime_type: PICTURE.mimeType };
    const members = { title: TITLE, ...(externalId !== undefined && { external_id: externalId }) };
    const { asset_id: id } = await media.createUpload({ ...request, ...members }, options);
    return id;
  }
  const file = sample === 'corrupt video' ? CORRUPT_VIDEO : PICTURE;
  return new Promise((resolve, reject) => {
    let isCreated = false;
    const upload = media.upload(new Blob([file.bytes()]), {
      ...options,
      ...{ filename: file.name, mimeType: file.mimeType, title: TITLE, externalId },
      // A hosted provider would not look into the file before its own encode.
      ...(sample === 'corrupt video' && { provider: 'onprem' }),
      onAsset: (id) => {
        isCreated = true;
        resolve(id);
      },
    });
    upload.catch((error: unknown) => {
      // The service refuses the corrupt video, which is what produces the event.
      const isRefused = sample === 'corrupt video' && error instanceof UploadError;
      if (!isCreated) reject(error);
      else if (!isRefused || error.errorCode !== 'BAD_REQUEST') onError(error);
    });
  });
}

const TITLE = 'Sample of mediary trigger';

const PICTURE = {
  name: 'mediary-trigger.png',
  mimeType: 'image/png',
  bytes: (): Buffer<ArrayBuffer> => Buffer.from(PNG, 'base64'),
};

/** It begins as an MP4 file; the rest is noise. */
const CORRUPT_VIDEO = {
  name: 'mediary-trigger.mp4',
  mimeType: 'video/mp4',
  bytes: (): Buffer<ArrayBuffer> => {
    const brand = Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0isomiso2', 'latin1');
    return Buffer.concat([brand, Buffer.alloc(4096, 'mediary trigger ')]);
  },
};

/** 32 × 32 pixels. */
const PNG = [
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAe0lEQVR42rXNERfCUBgA0O/ZwzAMh8NwOAzDcDgcDs',
  'Nw+HAYhmE4HIbDMNyvuOdcvymi5AgnRdbBQQdHHZx0UOmg1sFZB40OWh1cdHDVwU0HnQ56HQw6GHVw18FDB5MOig5m',
  'HTx18NLBWwcfHSw6WHXw1cGmg58O/jbYARRWQqGqsBQOAAAAAElFTkSuQmCC',
].join('');
