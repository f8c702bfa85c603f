// Fills the simulated providers with libraries, as their own clients do.
import { expect } from 'vitest';
import type { Simulators } from '../../../simulators/simulators.ts';
import { eventually } from '../service.ts';

const CAPTIONS = 'WEBVTT\n\n00:00.000 --> 00:01.000\nGuten Tag\n';

type Bytes = Uint8Array<ArrayBuffer>;

type Created = {
  readonly guid: string;
  readonly result: { readonly uid: string; readonly uploadURL: string };
};

/** What the responses of both providers have. */
async function sendJson(url: string, headers: Record<string, string>, body: object): Promise<Created> {
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  expect(response.status, url).toBe(200);
  return (await response.json()) as Created;
}

const accessOfCdnhost = ({ cdnhost: { url, environment } }: Simulators) => ({
  library: `${url}/library/${environment['CDNHOST_STREAM_LIBRARY_ID']}`,
  headers: { AccessKey: environment['CDNHOST_STREAM_API_KEY'] ?? '' },
});

export async function createCdnhostCollection(sims: Simulators, name: string): Promise<string> {
  const { library, headers } = accessOfCdnhost(sims);
  return (await sendJson(`${library}/collections`, headers, { name })).guid;
}

type CdnhostUpload = {
  readonly bytes: Bytes;
  readonly video: { readonly title: string; readonly [member: string]: unknown };
};

/** Returns the id of a video that is finished, or has failed. */
export async function addToCdnhost(sims: Simulators, { bytes, video }: CdnhostUpload): Promise<string> {
  const { library, headers } = accessOfCdnhost(sims);
  const { guid } = await sendJson(`${library}/videos`, headers, video);
  const path = `${library}/videos/${guid}`;
  await sendJson(path, headers, video);
  expect((await fetch(path, { method: 'PUT', headers, body: bytes })).status).toBe(200);
  await eventually(
    async () => sims.cdnhost.videos().find((other) => other.guid === guid)?.status,
    (status) => status === 4 || status === 5,
  );
  return guid;
}

export async function addCdnhostCaptions(sims: Simulators, guid: string, language: string): Promise<void> {
  const { library, headers } = accessOfCdnhost(sims);
  const captionsFile = Buffer.from(CAPTIONS).toString('base64');
  const body = { srclang: language, label: 'Untertitel', captionsFile };
  await sendJson(`${library}/videos/${guid}/captions/${language}`, headers, body);
}

const accessOfEdgehost = ({ edgehost: { environment } }: Simulators) => ({
  stream: `${environment['EDGEHOST_API_URL']}/accounts/${environment['EDGEHOST_ACCOUNT_ID']}/stream`,
  headers: { Authorization: `Bearer ${environment['EDGEHOST_STREAM_API_TOKEN']}` },
});

const toForm = (bytes: Bytes | string, name: string): FormData => {
  const form = new FormData();
  form.append('file', new Blob([bytes]), name);
  return form;
};

/** Returns the id of a video that is ready, or has failed. */
export async function addToEdgehost(sims: Simulators, bytes: Bytes, options: object): Promise<string> {
  const { stream, headers } = accessOfEdgehost(sims);
  const body = { maxDurationSeconds: 60, ...options };
  const { uid, uploadURL } = (await sendJson(`${stream}/direct_upload`, headers, body)).result;
  expect((await fetch(uploadURL, { method: 'POST', body: toForm(bytes, 'clip.mp4') })).status).toBe(200);
  await eventually(
    async () => sims.edgehost.videos().find((other) => other.uid === uid)?.status.state,
    (state) => state === 'ready' || state === 'error',
  );
  return uid;
}

export async function addEdgehostCaptions(sims: Simulators, uid: string, language: string): Promise<void> {
  const { stream, headers } = accessOfEdgehost(sims);
  const path = `${stream}/${uid}/captions/${language}`;
  const response = await fetch(path, { method: 'PUT', headers, body: toForm(CAPTIONS, 'captions.vtt') });
  expect(response.status).toBe(200);
}
