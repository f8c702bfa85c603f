// Tests the setting of the files that are made beside renditions.
import { expect, test } from 'vitest';
import { readVideoSettings } from './config-video.ts';
import { createSettings } from './platform/settings.ts';

function read(value?: string) {
  const settings = createSettings({ VIDEO_EXTRAS: value });
  return { extras: readVideoSettings(settings).videoExtras, problems: settings.problems };
}

test('all files are made unless the setting names some or none', () => {
  expect(read()).toEqual({ extras: ['storyboard', 'preview', 'audio', 'mp4'], problems: [] });
  expect(read('mp4, storyboard')).toEqual({ extras: ['storyboard', 'mp4'], problems: [] });
  expect(read('none')).toEqual({ extras: [], problems: [] });
});

test.each(['mp4,gif', 'none,mp4', 'MP4'])('%s is a problem', (value) => {
  expect(read(value).problems).toEqual(['VIDEO_EXTRAS may list storyboard, preview, audio, mp4, or be none']);
});
