import { findProgram, isProgram } from './find-program.mjs';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const MAC = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/Applications/Chromium.app/Contents/MacOS/Chromium'];

/** The browser that the tests drive: CHROMIUM_PATH, else the first one found; null without any. */
export function findChromium() {
  const named = process.env.CHROMIUM_PATH;
  if (named) return isProgram(named) ? named : null;
  return findProgram(NAMES) ?? MAC.find(isProgram) ?? null;
}
