// Speed and remaining time of an upload, from the bytes of the last seconds.
import type { UploadProgress } from './upload-options.ts';

type Pace = Pick<UploadProgress, 'bytesPerSecond' | 'secondsLeft'>;

const WINDOW_MS = 5000;
/** Over a shorter time, buffers of the system make an upload look faster than it is. */
const SHORTEST_MS = 500;

export function createPace(
  totalBytes: number,
  now = () => performance.now(),
): (phase: UploadProgress['phase'], bytesSent: number) => Pace {
  const samples: { readonly at: number; readonly bytes: number }[] = [];
  return (phase, bytes) => {
    const at = now();
    // A request that starts again sends the same bytes again.
    if (phase !== 'uploading' || bytes < (samples.at(-1)?.bytes ?? 0)) samples.length = 0;
    if (phase !== 'uploading') return { bytesPerSecond: null, secondsLeft: null };
    samples.push({ at, bytes });
    while (samples.length > 2 && at - (samples[1]?.at ?? at) >= WINDOW_MS) samples.shift();
    const [first] = samples;
    if (!first || at - first.at < SHORTEST_MS || bytes === first.bytes)
      return { bytesPerSecond: null, secondsLeft: null };
    const bytesPerSecond = ((bytes - first.bytes) / (at - first.at)) * 1000;
    return { bytesPerSecond, secondsLeft: (totalBytes - bytes) / bytesPerSecond };
  };
}
