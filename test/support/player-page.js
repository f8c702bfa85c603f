// The script of the player page: plays a stream with a stock player to its end, seeks, and reports what a
// viewer would notice.
/* global Hls, dashjs, shaka */
const WAIT_MS = 40_000;
const STEP_SECONDS = 4;
/** Playback has resumed after a seek when the clock has moved this far. */
const RESUMED_SECONDS = 0.3;

/** Each opens a stream, and returns functions that list the audio tracks and show the first captions. */
const PLAYERS = {
  'hls.js': (video, { url, prefersHdr }, onError) => {
    const hls = new Hls(prefersHdr ? { videoPreference: { preferHDR: true } } : {});
    hls.on(Hls.Events.ERROR, (_, { fatal, details }) => {
      if (fatal) onError(details);
    });
    hls.loadSource(url);
    hls.attachMedia(video);
    return {
      listAudio: () =>
        hls.audioTracks.map(({ lang, name }, index) => ({
          language: lang,
          name,
          select: () => {
            hls.audioTrack = index;
          },
        })),
      showCaptions: () => {
        hls.subtitleDisplay = true;
        hls.subtitleTrack = 0;
      },
    };
  },
  'dash.js': (video, { url, prefersHdr }, onError) => {
    const player = dashjs.MediaPlayer().create();
    player.on(dashjs.MediaPlayer.events.ERROR, ({ error }) => onError(`${error.code} ${error.message}`));
    if (prefersHdr) player.setCustomInitialTrackSelectionFunction(chooseHdr);
    player.initialize(video, url, false);
    return {
      listAudio: () =>
        player.getTracksFor('audio').map((track) => ({
          language: track.lang,
          name: track.labels[0]?.text,
          select: () => player.setCurrentTrack(track),
        })),
      showCaptions: () => {
        player.enableText(true);
        player.setTextTrack(0);
      },
    };
  },
  'shaka-player': async (video, { url, prefersHdr }, onError) => {
    shaka.polyfill.installAll();
    const player = new shaka.Player();
    if (prefersHdr) player.configure('preferredVideo', [{ hdrLevel: 'PQ' }]);
    player.addEventListener('error', ({ detail }) => onError(`shaka ${detail.code}`));
    await player.attach(video);
    await player.load(url);
    return {
      listAudio: () =>
        player.getAudioTracks().map((track) => ({
          language: track.language,
          name: track.label,
          select: () => player.selectAudioTrack(track),
        })),
      showCaptions: () => player.selectTextTrack(player.getTextTracks()[0]),
    };
  },
};

/** Of a track in dash.js: only video in HDR has essential properties. */
const isHdr = ({ essentialProperties = [] }) => essentialProperties.length > 0;
const chooseHdr = (tracks) => (tracks.some(isHdr) ? tracks.filter(isHdr) : tracks);

/** `step` names what was waited for in the description of a failure. */
function waitFor(video, step, isDone) {
  return new Promise((resolve, reject) => {
    const stopWatching = () => {
      clearInterval(watch);
      clearTimeout(deadline);
    };
    const watch = setInterval(() => {
      if (!isDone()) return;
      stopWatching();
      resolve();
    }, 20);
    const deadline = setTimeout(() => {
      stopWatching();
      reject(new Error(`${step}: ${describeVideo(video)}`));
    }, WAIT_MS);
  });
}

function describeVideo(video) {
  const ranges = Array.from(
    { length: video.buffered.length },
    (_, index) => `${video.buffered.start(index)}-${video.buffered.end(index)}`,
  );
  const state = `readyState ${video.readyState}, paused ${video.paused}, seeking ${video.seeking}`;
  return `stopped at ${video.currentTime} of ${video.duration}, buffered ${ranges.join(' ')}, ${state}`;
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

/**
 * As a viewer does when the video stands still: dash.js pauses at the end, which may cancel a play() that
 * came just before. Nothing
 * waits for the promise, which stays pending while a player loads.
 */
function pressPlay(video) {
  if (video.paused && !video.ended && !video.seeking) video.play().catch(() => {});
}

async function visit(video) {
  await waitFor(video, 'at the start', () => video.readyState >= 1 && Number.isFinite(video.duration));
  await playToEnd(video, 'in the first run');
  await resumeAt(video, 0);
  await resumeAt(video, video.duration / 2);
  video.currentTime = Math.max(0, video.duration - 0.5);
  await playToEnd(video, 'after a seek near the end');
}

/** Plays once, from where the player starts; each step has a deadline, because encoding may be slow. */
async function playOnce(video) {
  // dash.js misses a play() before it has attached its media source, and never reads the manifest again then.
  await waitFor(video, 'before the start', () => video.readyState >= 1);
  await playBeyond(video, 0);
  while (!video.ended) await playBeyond(video, video.currentTime + STEP_SECONDS);
}

function playBeyond(video, seconds) {
  return waitFor(video, `on the way to ${seconds}`, () => {
    pressPlay(video);
    return video.ended || video.currentTime > seconds;
  });
}

/** Resolves with the errors of the player and the clock of the video at the end. */
globalThis.playThrough = (request) => play(request, visit);
globalThis.playEarly = (request) => play(request, playOnce);

async function play({ player, rate, ...stream }, watch) {
  const video = document.querySelector('video');
  const errors = [];
  const onError = (error) => errors.push(error);
  video.addEventListener('error', () => onError(video.error?.message));
  try {
    await PLAYERS[player](video, stream, onError);
    video.playbackRate = rate;
    video.defaultPlaybackRate = rate;
    await watch(video);
  } catch (error) {
    onError(error.message);
  }
  const { currentTime, duration, videoWidth: width, videoHeight: height, played } = video;
  const startedAt = played.length > 0 ? played.start(0) : undefined;
  return { errors, startedAt, endedAt: currentTime, duration, width, height, tracks: listTracks() };
}

/** The numbers of the tracks whose segments were requested, lowest first. */
function listTracks() {
  const files = performance.getEntriesByType('resource');
  const numbers = files.flatMap(({ name }) => /\/r(\d+)-\d+\.m4s/.exec(name)?.[1] ?? []);
  return [...new Set(numbers.map(Number))].sort((a, b) => a - b);
}

const FFT_SIZE = 16384;
/** A frequency must be the loudest in this many looks in a row. */
const STEADY_LOOKS = 10;

/** The loudest frequency that the video plays, in hertz. */
function openEar(video) {
  const context = new AudioContext();
  const analyser = new AnalyserNode(context, { fftSize: FFT_SIZE, smoothingTimeConstant: 0 });
  context.createMediaElementSource(video).connect(analyser).connect(context.destination);
  const levels = new Float32Array(analyser.frequencyBinCount);
  return () => {
    analyser.getFloatFrequencyData(levels);
    return (levels.indexOf(Math.max(...levels)) * context.sampleRate) / FFT_SIZE;
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
globalThis.switchAudio = async ({ player, url, tone, language, languageTone }) => {
  const video = document.querySelector('video');
  video.loop = true;
  const errors = [];
  const onError = (error) => errors.push(error);
  let tracks = [];
  try {
    const { listAudio } = await PLAYERS[player](video, { url }, onError);
    const listen = openEar(video);
    await waitForTone(video, listen, tone);
    tracks = listAudio();
    tracks.find((track) => track.language === language).select();
    await waitForTone(video, listen, languageTone);
  } catch (error) {
    onError(error.message);
  }
  return { errors, tracks: tracks.map(({ language, name }) => ({ language, name })) };
};

const activeCueOf = (video) =>
  [...video.textTracks]
    .filter(({ mode }) => mode === 'showing')
    .flatMap(({ activeCues }) => [...(activeCues ?? [])])
    .map(({ startTime, endTime, text }) => ({ startTime, endTime, text }))[0];

/** Resolves with the first cue that the player shows; without one if the video ends before. */
globalThis.showCaptions = async ({ player, url }) => {
  const video = document.querySelector('video');
  const errors = [];
  const { showCaptions } = await PLAYERS[player](video, { url }, (error) => errors.push(error));
  let cue;
  try {
    await waitFor(video, 'before the captions', () => video.readyState >= 1 && video.textTracks.length > 0);
    await showCaptions();
    await waitFor(video, 'without a cue', () => {
      if (video.ended) return true;
      pressPlay(video);
      cue = activeCueOf(video);
      return cue !== undefined;
    });
  } catch (error) {
    errors.push(error.message);
  }
  return { errors, cue };
};
