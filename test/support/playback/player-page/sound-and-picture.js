// Hears and sees what a video plays: its tone, the colours of its corners, its captions, its flashes
// and beeps.
import { withPlayer } from './players.js';
import { pressPlay, waitFor, waitForStart } from './video-clock.js';

/** Of the analyser: 0.7 s at 48 kHz, and 1.5 Hz between two frequencies. */
const FFT_SIZE = 32768;
/** A frequency must be the loudest in this many looks in a row. */
const STEADY_LOOKS = 10;

function openAnalyser(video) {
  const context = new AudioContext();
  const analyser = new AnalyserNode(context, { fftSize: FFT_SIZE, smoothingTimeConstant: 0 });
  context.createMediaElementSource(video).connect(analyser).connect(context.destination);
  return analyser;
}

/** The loudest frequency that the video plays, in hertz. */
function openEar(video) {
  const analyser = openAnalyser(video);
  const levels = new Float32Array(analyser.frequencyBinCount);
  return () => {
    analyser.getFloatFrequencyData(levels);
    return (levels.indexOf(Math.max(...levels)) * analyser.context.sampleRate) / FFT_SIZE;
  };
}

function waitForTone(video, listen, hertz) {
  let looks = 0;
  return waitFor(video, `until ${hertz} Hz are heard, not ${listen()}`, () => {
    pressPlay(video);
    looks = Math.abs(listen() - hertz) < hertz / 20 ? looks + 1 : 0;
    return looks >= STEADY_LOOKS;
  });
}

/** Resolves with the listed tracks, after both tones were heard: before and after the switch. */
export const switchAudio = ({ tone, language, languageTone, ...request }) =>
  withPlayer(request, async (video, { listAudio }) => {
    video.loop = true;
    const listen = openEar(video);
    await waitForTone(video, listen, tone);
    const tracks = listAudio();
    tracks.find((track) => track.language === language).select();
    await waitForTone(video, listen, languageTone);
    return { tracks: tracks.map(({ language, name }) => ({ language, name })) };
  });

const activeCueOf = (video) =>
  [...video.textTracks]
    .filter(({ mode }) => mode === 'showing')
    .flatMap(({ activeCues }) => [...(activeCues ?? [])])
    .map(({ startTime, endTime, text }) => ({ startTime, endTime, text }))[0];

/** Resolves with the first cue that the player shows; without one if the video ends before. */
export const showCaptions = (request) =>
  withPlayer(request, async (video, controls) => {
    await waitFor(video, 'before the captions', () => video.readyState >= 1 && video.textTracks.length > 0);
    await controls.showCaptions();
    let cue;
    await waitFor(video, 'without a cue', () => {
      if (video.ended) return true;
      pressPlay(video);
      cue = activeCueOf(video);
      return cue !== undefined;
    });
    return { cue };
  });

/** Side of the canvas in pixels. */
const SIDE = 32;

function openCanvas() {
  const canvas = new OffscreenCanvas(SIDE, SIDE);
  return canvas.getContext('2d', { willReadFrequently: true });
}

/** Red, green and blue in the middle of each quarter: top left, top right, bottom left, bottom right. */
export const readCorners = (request) =>
  withPlayer(request, async (video) => {
    let isShown = false;
    video.requestVideoFrameCallback(() => {
      isShown = true;
    });
    await waitFor(video, 'before the first frame', () => isShown);
    const canvas = openCanvas();
    canvas.drawImage(video, 0, 0, SIDE, SIDE);
    const near = SIDE / 4;
    const far = SIDE - near;
    const places = [
      [near, near],
      [far, near],
      [near, far],
      [far, far],
    ];
    const corners = places.map(([x, y]) => [...canvas.getImageData(x, y, 1, 1).data.slice(0, 3)]);
    return { corners, width: video.videoWidth, height: video.videoHeight };
  });

const BRIGHT = 128;
const LOUD = 0.1;
/** Silence before a beep: longer than a beep, and than any moment of silence in its tone. */
const SILENT_SECONDS = 0.2;

/**
 * Plays to the end. Resolves with the media times of frames that turn white, and of beeps.
 *
 * The time of a frame is its timestamp. That of a beep is read from the last samples that the page played:
 * the clock of the video belongs to the newest one, so a busy page does not move the result.
 */
export const recordFlashesAndBeeps = (request) =>
  withPlayer(request, async (video) => {
    const flashes = recordFlashes(video);
    const findBeep = openBeepFinder(video);
    const beeps = [];
    await waitForStart(video);
    await waitFor(video, 'until its end', () => {
      pressPlay(video);
      const beep = findBeep();
      if (beep !== undefined) beeps.push(beep);
      return video.ended;
    });
    return { flashes, beeps };
  });

function recordFlashes(video) {
  const canvas = openCanvas();
  const flashes = [];
  let wasBright = false;
  const look = (_, { mediaTime }) => {
    canvas.drawImage(video, 0, 0, SIDE, SIDE);
    const isBright = canvas.getImageData(SIDE / 2, SIDE / 2, 1, 1).data[0] > BRIGHT;
    if (isBright && !wasBright) flashes.push(mediaTime);
    wasBright = isBright;
    video.requestVideoFrameCallback(look);
  };
  video.requestVideoFrameCallback(look);
  return flashes;
}

/** The media time of the last beep that begins in the samples of the analyser, after silence. */
function openBeepFinder(video) {
  const analyser = openAnalyser(video);
  const samples = new Float32Array(FFT_SIZE);
  const { sampleRate } = analyser.context;
  return () => {
    const { currentTime } = video;
    analyser.getFloatTimeDomainData(samples);
    const start = findOnset(samples, SILENT_SECONDS * sampleRate);
    return start === undefined ? undefined : currentTime - (samples.length - start) / sampleRate;
  };
}

function findOnset(samples, silentSamples) {
  let onset;
  let lastLoud = -1;
  samples.forEach((sample, index) => {
    if (Math.abs(sample) < LOUD) return;
    if (index - lastLoud > silentSamples) onset = index;
    lastLoud = index;
  });
  return onset;
}
