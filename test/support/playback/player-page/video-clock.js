// Waits for the clock of a video, and records what interrupts it.
const WAIT_MS = 40_000;
const POLL_MS = 20;

/** `step` names what was waited for in the description of a failure. */
export function waitFor(video, step, isDone) {
  return new Promise((resolve, reject) => {
    const stopWatching = () => {
      clearInterval(watch);
      clearTimeout(deadline);
    };
    const watch = setInterval(() => {
      if (!isDone()) return;
      stopWatching();
      resolve();
    }, POLL_MS);
    const deadline = setTimeout(() => {
      stopWatching();
      reject(new Error(`${step}: ${describeVideo(video)}`));
    }, WAIT_MS);
  });
}

/** dash.js misses a play() that comes before its media source: it never reads the manifest again then. */
export const waitForStart = (video) => waitFor(video, 'before the start', () => video.readyState >= 1);

const listRanges = (ranges) =>
  Array.from({ length: ranges.length }, (_, index) => `${ranges.start(index)}-${ranges.end(index)}`);

function describeVideo(video) {
  const state = `readyState ${video.readyState}, paused ${video.paused}, seeking ${video.seeking}`;
  const buffered = listRanges(video.buffered).join(' ');
  return `stopped at ${video.currentTime} of ${video.duration}, buffered ${buffered}, ${state}`;
}

/**
 * As a viewer does when the video stands still: dash.js pauses at the end, which may cancel a play() that
 * came just before. Nothing waits for the promise, which stays pending while a player loads.
 */
export function pressPlay(video) {
  if (video.paused && !video.ended && !video.seeking) video.play().catch(() => {});
}

/** The clock may run ahead of its readings by this much. */
const JUMP_SECONDS = 0.5;
/** A player stalls when the clock stands still for this long although the next second is buffered. */
const STALL_MS = 10_000;

/** dash.js pauses and seeks to the end after the last frame, maybe before the video has ended. */
const END_SECONDS = 0.1;
const isAtEnd = ({ ended, currentTime, duration }) => ended || currentTime > duration - END_SECONDS;

const hasNextSecond = ({ buffered, currentTime }) =>
  Array.from({ length: buffered.length }).some(
    (_, index) => buffered.start(index) <= currentTime && buffered.end(index) > currentTime + 1,
  );

/**
 * Records pauses and seeks that the page did not ask for, stalls and jumps of the clock, and an end before
 * the end: pressPlay would hide them. Returns a function that lists them.
 */
export function recordInterruptions(video) {
  const interruptions = [];
  const record = (what) => interruptions.push(`${what} at ${video.currentTime} of ${video.duration}`);
  let hasStarted = false;
  video.addEventListener('playing', () => {
    hasStarted = true;
  });
  for (const type of ['pause', 'seeking'])
    video.addEventListener(type, () => {
      if (hasStarted && !isAtEnd(video)) record(type);
    });
  let endedAt;
  video.addEventListener('ended', () => {
    endedAt = video.currentTime;
    clearInterval(watch);
  });
  let [time, readAt] = [video.currentTime, performance.now()];
  let movedAt = readAt;
  const watch = setInterval(() => {
    const [before, beforeAt] = [time, readAt];
    [time, readAt] = [video.currentTime, performance.now()];
    const expected = ((readAt - beforeAt) / 1000) * video.playbackRate;
    if (time < before || time - before > expected + JUMP_SECONDS) record(`jump from ${before}`);
    if (time !== before || !hasNextSecond(video)) movedAt = readAt;
    if (readAt - movedAt > STALL_MS) {
      record('stall');
      movedAt = readAt;
    }
  }, POLL_MS);
  return () => {
    clearInterval(watch);
    if (endedAt !== undefined && endedAt < video.duration - JUMP_SECONDS) record(`ended at ${endedAt}`);
    return [
      ...interruptions,
      ...listRanges(video.played)
        .slice(1)
        .map((range) => `gap before ${range}`),
    ];
  };
}
