import { findChromium } from './find-chromium.mjs';
import { canInstallDebianPackages, installDebianPackage } from './install-debian-package.mjs';
import { lastLines } from './run-step.mjs';
import { SetUpProblem } from './set-up-problem.mjs';

/** Sees to a browser for the tests of the pages. On a CI host its lack is an error, so that no test is skipped unseen. */
export async function provideChromium() {
  if (findChromium()) return;
  const result = (await canInstallDebianPackages()) ? await installDebianPackage('chromium') : null;
  if (findChromium()) return;

  const message = 'There is no Chromium here: install chromium or Google Chrome, or set CHROMIUM_PATH.';
  if (process.env.CI === 'true') throw new SetUpProblem([message, lastLines(result?.output ?? '')].join('\n\n'));
  console.log(`Set-up: ${message} The tests of the pages are skipped until then.`);
}
