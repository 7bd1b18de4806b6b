import { canInstallDebianPackages, findProgram, installDebianPackage, isProgram, lastLines, SetUpProblem } from './programs.mjs';

/** Provides a browser for the tests of the pages. In CI a missing browser is an error, so that no test is skipped. */
export async function provideChromium() {
  if (findChromium()) return;
  const result = (await canInstallDebianPackages()) ? await installDebianPackage('chromium') : null;
  if (findChromium()) return;

  const message = 'No Chromium was found: install chromium or Google Chrome, or set CHROMIUM_PATH.';
  if (process.env.CI === 'true') throw new SetUpProblem([message, lastLines(result?.output ?? '')].join('\n\n'));
  console.log(`Set-up: ${message} Until then the tests of the pages are skipped.`);
}

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];
const MAC = ['/Applications/Google Chrome.app/Contents/MacOS/Google Chrome', '/Applications/Chromium.app/Contents/MacOS/Chromium'];

/** Finds the browser for the tests: CHROMIUM_PATH, else the first one on the machine; null when there is none. */
export function findChromium() {
  const named = process.env.CHROMIUM_PATH;
  if (named) return isProgram(named) ? named : null;
  return findProgram(NAMES) ?? MAC.find(isProgram) ?? null;
}
