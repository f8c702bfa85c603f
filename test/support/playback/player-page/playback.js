// Plays a stream to its end, seeks in it, and switches its renditions.
import { withPlayer } from './players.js';
import { pressPlay, recordInterruptions, waitFor, waitForStart } from './video-clock.js';

const STEP_SECONDS = 4;
/** Of the picture that a player shows over its seek bar. */
const THUMBNAIL_SECONDS = 5;
/** Playback has resumed after a seek when the clock has moved this far. */
const RESUMED_SECONDS = 0.3;

/** Resolves with the errors of the player and the clock of the video at the end. */
export const playThrough = ({ rate, ...request }) =>
  withPlayer(request, async (video) => {
    setRate(video, rate);
    await waitFor(video, 'at the start', () => video.readyState >= 1 && Number.isFinite(video.duration));
    await playToEnd(video, 'in the first run');
    await resumeAt(video, 0);
    await resumeAt(video, video.duration / 2);
    video.currentTime = Math.max(0, video.duration - 0.5);
    await playToEnd(video, 'after a seek near the end');
    return describeEnd(video);
  });

/**
 * Plays once, from where the player starts. With `awaitedHeight`, moves to that rendition as soon as the
 * player knows it, then plays at `rateThen`: the choice of the player depends on the speed of the machine.
 */
export const playEarly = ({ rate, awaitedHeight, rateThen, ...request }) =>
  withPlayer(request, async (video, { listHeights, moveToHeight }) => {
    setRate(video, rate);
    const listInterruptions = recordInterruptions(video);
    await waitForStart(video);
    await playBeyond(video, 0);
    if (awaitedHeight) {
      await playInSteps(video, () => listHeights().includes(awaitedHeight));
      setRate(video, rateThen);
    }
    await playInSteps(video, () => {
      // Again at each step: dash.js forgets a choice that is made while it reads its manifest.
      if (awaitedHeight && video.videoHeight !== awaitedHeight) moveToHeight(awaitedHeight);
      return video.ended;
    });
    return { ...describeEnd(video), interruptions: listInterruptions() };
  });

/** Plays only the lowest rendition, then only the highest and the lowest again, then to the end. */
export const switchRenditions = ({ rate, ...request }) =>
  withPlayer(request, async (video, { listHeights, selectHeight, findThumbnail }) => {
    await waitForStart(video);
    const heights = [...new Set(listHeights())].sort((a, b) => a - b);
    const [lowest, highest] = [heights.at(0), heights.at(-1)];
    const shown = [];
    // On a busy machine a switch may take longer than the video.
    video.loop = true;
    for (const height of [lowest, highest, lowest]) {
      selectHeight(height);
      await waitFor(video, `until ${height} lines are shown, not ${video.videoHeight}`, () => {
        pressPlay(video);
        return video.videoHeight === height;
      });
      shown.push(video.videoHeight);
    }
    video.loop = false;
    setRate(video, rate);
    await playToEnd(video, 'after the switches');
    const thumbnail = await findThumbnail?.(THUMBNAIL_SECONDS);
    return { ...describeEnd(video), heights, shown, thumbnail };
  });

/** Players reset the rate to the default one when they load. */
export function setRate(video, rate) {
  video.playbackRate = rate;
  video.defaultPlaybackRate = rate;
}

async function playToEnd(video, step) {
  await waitFor(video, step, () => {
    pressPlay(video);
    return video.ended;
  });
}

async function resumeAt(video, seconds) {
  video.currentTime = seconds;
  const target = Math.min(seconds + RESUMED_SECONDS, video.duration - 0.01);
  await waitFor(video, `after a seek to ${seconds}`, () => {
    pressPlay(video);
    return !video.seeking && video.currentTime >= target;
  });
}

function playBeyond(video, seconds) {
  return waitFor(video, `on the way to ${seconds}`, () => {
    pressPlay(video);
    return video.ended || video.currentTime > seconds;
  });
}

/** Each step has a deadline, because encoding may be slow. */
async function playInSteps(video, isDone) {
  while (!isDone() && !video.ended)
    await playBeyond(video, video.currentTime + STEP_SECONDS * Math.min(1, video.playbackRate));
}

function describeEnd(video) {
  const { currentTime, duration, videoWidth: width, videoHeight: height, played } = video;
  const startedAt = played.length > 0 ? played.start(0) : undefined;
  return { startedAt, endedAt: currentTime, duration, width, height, tracks: listTracks() };
}

/** The numbers of the tracks whose segments were requested, lowest first. */
function listTracks() {
  const files = performance.getEntriesByType('resource');
  const numbers = files.flatMap(({ name }) => /\/r(\d+)-\d+\.m4s/.exec(name)?.[1] ?? []);
  return [...new Set(numbers.map(Number))].sort((a, b) => a - b);
}
