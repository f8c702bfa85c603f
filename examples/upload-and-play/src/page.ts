// The page: uploads with a progress bar, follows the events of the video, and plays it with hls.js.
import { createMediary, isMediaryError } from '@mediary/client';
import Hls from 'hls.js';

declare const MEDIARY_URL: string;
type Video = { readonly id: string; readonly filename: string; readonly status: string };

const mediary = createMediary({
  baseUrl: MEDIARY_URL,
  token: async () => (await fetch('/media-token', { method: 'POST' })).text(),
});

const find = <E extends Element>(selector: string): E => {
  const element = document.querySelector<E>(selector);
  if (!element) throw new Error(`the page has no ${selector}`);
  return element;
};
const input = find<HTMLInputElement>('input');
const uploadBar = find<HTMLProgressElement>('#upload');
const encodingBar = find<HTMLProgressElement>('#encoding');
const status = find<HTMLElement>('#status');
const player = find<HTMLVideoElement>('video');
const list = find<HTMLUListElement>('ul');
let hls: Hls | undefined;

input.addEventListener('change', () => {
  const file = input.files?.[0];
  if (file) void showErrors(() => uploadAndPlay(file));
});

async function uploadAndPlay(file: File): Promise<void> {
  status.textContent = `Uploading ${file.name}`;
  const asset = await mediary.media.upload(file, {
    onProgress: ({ bytesSent, totalBytes }) => {
      uploadBar.value = bytesSent / totalBytes;
    },
  });
  status.textContent = 'Encoding';
  const ready = await mediary.media.waitUntilReady(asset.id, {
    onUpdate: ({ progress }) => {
      encodingBar.value = progress;
    },
  });
  encodingBar.value = 100;
  await Promise.all([play(ready.id), showVideos()]);
}

async function play(id: string): Promise<void> {
  const { hls: url } = await mediary.media.playback(id);
  if (!url) throw new Error('The video cannot be played yet');
  hls?.destroy();
  if (Hls.isSupported()) {
    hls = new Hls();
    hls.loadSource(url);
    hls.attachMedia(player);
  } else player.src = url; // Safari on iOS plays HLS itself.
  status.textContent = 'Playing';
  await player.play();
}

async function showVideos(): Promise<void> {
  const videos = (await (await fetch('/videos')).json()) as Video[];
  list.replaceChildren(...videos.map(toListItem));
}

function toListItem({ id, filename, status: state }: Video): HTMLLIElement {
  const item = document.createElement('li');
  const button = document.createElement('button');
  button.textContent = `${filename} (${state})`;
  button.disabled = state !== 'ready';
  button.addEventListener('click', () => void showErrors(() => play(id)));
  item.append(button);
  return item;
}

async function showErrors(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    status.textContent = isMediaryError(error) ? `${error.message} (${error.errorCode})` : String(error);
  }
}

await showErrors(showVideos);
