// Remembers the captions that the viewer chose, for all players of the page's origin.

const KEY = 'mediary-player-captions';
const OFF = 'off';

/** Requests of the captions button, the captions menu and the keyboard. */
const CHOICES = [
  'mediashowsubtitlesrequest',
  'mediadisablesubtitlesrequest',
  'mediatogglesubtitlesrequest',
] as const;

/** Stores each choice that the viewer makes inside `controller`. */
export function recordCaptionsChoices(
  controller: EventTarget,
  findMedia: () => HTMLVideoElement | null,
): void {
  for (const type of CHOICES)
    controller.addEventListener(type, () => {
      // The controller applies the request to the tracks first.
      setTimeout(() => {
        const media = findMedia();
        if (media) write(captionsOf(media).find(({ mode }) => mode === 'showing')?.language ?? OFF);
      });
    });
}

/** Shows what the viewer chose earlier, when the tracks are known. Without a choice, nothing changes. */
export function applyCaptionsChoice(media: HTMLVideoElement): void {
  const apply = (): void => {
    const choice = read();
    const tracks = captionsOf(media);
    const chosen = tracks.find(({ language }) => language === choice);
    if (choice !== OFF && !chosen) return;
    for (const track of tracks) track.mode = track === chosen ? 'showing' : 'disabled';
  };
  // The player chooses the default track after it has added all of them.
  media.textTracks.addEventListener('addtrack', () => setTimeout(apply));
}

const captionsOf = ({ textTracks }: HTMLVideoElement): TextTrack[] =>
  [...textTracks].filter(({ kind }) => kind === 'subtitles' || kind === 'captions');

/** Storage is absent where the viewer forbids it, and in sandboxed frames. */
function read(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

function write(choice: string): void {
  try {
    localStorage.setItem(KEY, choice);
  } catch {
    // The choice is then forgotten with the page.
  }
}
