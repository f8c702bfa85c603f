// Chapters as people write them: a line for each one, such as `1:05 Demo`.
import type { Chapter } from './api/assets.ts';

const LINE = /^(?:(\d{1,3}):)?(\d{1,2}):(\d\d)(?:\.(\d{1,3}))?\s+(?:[-–—]\s+)?(\S.*)$/;

/**
 * Reads a chapter from each line that is not blank: `h:mm:ss` or `m:ss`, with up to three decimals, then the
 * title. Throws TypeError with the number of the line. The service checks order and lengths.
 *
 * @example await mediary.media.update(id, { chapters: parseChapters('0:00 Intro\n1:05 Demo') });
 */
export function parseChapters(text: string): Chapter[] {
  return text.split(/\r?\n/).flatMap((line, index) => {
    if (line.trim() === '') return [];
    const [, hours = '0', minutes = '', seconds = '', decimals = '', title] = LINE.exec(line.trim()) ?? [];
    if (title === undefined || Number(seconds) > 59)
      throw new TypeError(`Line ${index + 1} must be a time and a title, such as 1:05 Demo: ${line.trim()}`);
    const whole = 3600 * Number(hours) + 60 * Number(minutes) + Number(seconds);
    return [{ start_ms: 1000 * whole + Number(decimals.padEnd(3, '0')), title }];
  });
}

/** The lines of `parseChapters`. Line breaks in titles become spaces. */
export const formatChapters = (chapters: readonly Chapter[]): string =>
  chapters
    .map(({ start_ms: start, title }) => `${formatStart(start)} ${title.replace(/\s*\n\s*/g, ' ')}`)
    .join('\n');

function formatStart(ms: number): string {
  const pad = (value: number, length = 2): string => `${value}`.padStart(length, '0');
  const [hours, minutes] = [Math.floor(ms / 3_600_000), Math.floor(ms / 60_000) % 60];
  const clock = hours > 0 ? `${hours}:${pad(minutes)}` : `${minutes}`;
  const decimals = ms % 1000 === 0 ? '' : `.${pad(ms % 1000, 3)}`;
  return `${clock}:${pad(Math.floor(ms / 1000) % 60)}${decimals}`;
}
