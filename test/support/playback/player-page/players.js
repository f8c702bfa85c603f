// Opens streams with stock players, and gives all of them the same controls.
/* global Hls, dashjs, shaka */

/**
 * Each opens a stream, and returns functions that list the audio tracks, show the first captions, list the
 * heights of the renditions and play only one of them: at once, or (`moveToHeight`) after what is buffered.
 */
const PLAYERS = {
  'hls.js': (video, { url, prefersHdr, bufferSeconds }, onError) => {
    const hls = new Hls({
      ...(prefersHdr && { videoPreference: { preferHDR: true } }),
      ...(bufferSeconds && { maxBufferLength: bufferSeconds, maxMaxBufferLength: bufferSeconds }),
    });
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
      listHeights: () => hls.levels.map(({ height }) => height),
      selectHeight: (wanted) => {
        hls.currentLevel = hls.levels.findIndex(({ height }) => height === wanted);
      },
      moveToHeight: (wanted) => {
        hls.loadLevel = hls.levels.findIndex(({ height }) => height === wanted);
      },
    };
  },
  'dash.js': (video, { url, prefersHdr, bufferSeconds }, onError) => {
    const player = dashjs.MediaPlayer().create();
    player.on(dashjs.MediaPlayer.events.ERROR, ({ error }) => onError(`${error.code} ${error.message}`));
    endCompleteStream(video);
    if (prefersHdr) player.setCustomInitialTrackSelectionFunction(chooseHdr);
    if (bufferSeconds) {
      const buffer = { bufferTimeDefault: bufferSeconds, bufferTimeAtTopQuality: bufferSeconds };
      player.updateSettings({ streaming: { buffer } });
    }
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
      findThumbnail: async (seconds) => {
        const found = await new Promise((resolve) => player.provideThumbnail(seconds, resolve));
        const { url: sprite, x, y, width, height } = found;
        return { sprite, x, y, width, height };
      },
      listHeights: () => player.getRepresentationsByType('video').map(({ height }) => height),
      selectHeight: (wanted) => selectInDash(player, wanted, true),
      moveToHeight: (wanted) => selectInDash(player, wanted, false),
    };
  },
  'shaka-player': async (video, { url, prefersHdr, bufferSeconds }, onError) => {
    shaka.polyfill.installAll();
    const player = new shaka.Player();
    if (prefersHdr) player.configure('preferredVideo', [{ hdrLevel: 'PQ' }]);
    if (bufferSeconds) player.configure('streaming.bufferingGoal', bufferSeconds);
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
      findThumbnail: async (seconds) => {
        const [{ id }] = player.getImageTracks();
        const { uris, positionX: x, positionY: y, width, height } = await player.getThumbnails(id, seconds);
        return { sprite: uris[0], x, y, width, height };
      },
      listHeights: () => player.getVariantTracks().map(({ height }) => height),
      selectHeight: (wanted) => {
        player.configure('abr.enabled', false);
        const track = player.getVariantTracks().find(({ height }) => height === wanted);
        player.selectVariantTrack(track, true);
      },
    };
  },
  /** Chromium itself plays a file. */
  none: (video, { url }) => {
    video.src = url;
    return {};
  },
};

/**
 * dash.js 5.2.1 never ends its stream when the last segments of picture and sound are appended at the same
 * time: it stops some frames before the end. The page ends the stream then.
 */
function endCompleteStream(video) {
  const { addSourceBuffer } = MediaSource.prototype;
  MediaSource.prototype.addSourceBuffer = function add(type) {
    video.addEventListener('waiting', () => {
      const isUpdating = [...this.sourceBuffers].some(({ updating }) => updating);
      if (hasEnd(video) && this.readyState === 'open' && !isUpdating) this.endOfStream();
    });
    return addSourceBuffer.call(this, type);
  };
}

/** The buffer may end a little before the duration, which is rounded up. */
const END_SECONDS = 0.1;
const hasEnd = ({ buffered, duration }) =>
  buffered.length > 0 && buffered.end(buffered.length - 1) > duration - END_SECONDS;

function selectInDash(player, wanted, replacesBuffer) {
  player.updateSettings({ streaming: { abr: { autoSwitchBitrate: { video: false } } } });
  const index = player.getRepresentationsByType('video').findIndex(({ height }) => height === wanted);
  player.setRepresentationForTypeByIndex('video', index, replacesBuffer);
}

/** Of a track in dash.js: only video in HDR has essential properties. */
const isHdr = ({ essentialProperties = [] }) => essentialProperties.length > 0;
const chooseHdr = (tracks) => (tracks.some(isHdr) ? tracks.filter(isHdr) : tracks);

/**
 * Runs `watch` with the video and the controls of its player. Resolves with the errors of the player, the
 * video element and `watch`, and what `watch` resolved with.
 */
export async function withPlayer({ player, ...stream }, watch) {
  const video = document.querySelector('video');
  const errors = [];
  const onError = (error) => errors.push(error);
  video.addEventListener('error', () => onError(video.error?.message));
  let result;
  try {
    result = await watch(video, await PLAYERS[player](video, stream, onError));
  } catch (error) {
    onError(error.message);
  }
  return { errors, ...result };
}
