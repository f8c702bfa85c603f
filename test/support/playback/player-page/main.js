// Gives the test the functions that it calls on the page.
import { playEarly, playThrough, setRate, switchRenditions } from './playback.js';
import { readCorners, recordFlashesAndBeeps, showCaptions, switchAudio } from './sound-and-picture.js';

Object.assign(globalThis, {
  playEarly,
  playThrough,
  readCorners,
  recordFlashesAndBeeps,
  setRate: (rate) => setRate(document.querySelector('video'), rate),
  showCaptions,
  switchAudio,
  switchRenditions,
});
