import axe from 'axe-core';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { firstOf, testEnvironment } from '../../support/test-environment.ts';
import { waitFor } from '../../support/wait-for.ts';

const ARGUMENTS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
const finder = new URL('../../../services/local/set-up/provide-chromium.mjs', import.meta.url).href;
const { findChromium } = (await import(finder)) as { findChromium: () => string | null };
const executablePath = findChromium();

/** Whether pages can be tested here. On a CI host a missing browser is a failure. */
export const hasBrowser: boolean = executablePath !== null || testEnvironment.isCi;

export interface TestBrowser {
  readonly page: Page;
  /** Errors that the browser reported, and requests to other hosts. */
  readonly problems: string[];
  /** Throws what the browser reported since the last call. */
  assertNoProblems(): void;
  close(): Promise<void>;
}

/** A real Chromium with one page and a profile of its own. */
export async function openBrowser(url: string): Promise<TestBrowser> {
  const profile = await mkdtemp(join(tmpdir(), 'muster-browser-'));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: executablePath ?? 'chromium',
    headless: true,
    args: ARGUMENTS,
    reducedMotion: 'reduce',
  });
  const page = context.pages()[0] ?? (await context.newPage());
  // Less than a test may take, so that the step that hangs is named.
  page.setDefaultTimeout(60_000);
  const problems: string[] = [];
  page.on('console', (message) => {
    // A refusal by the server is part of some tests, and shown by the page.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith(url)) problems.push(`requested ${request.url()}`);
  });
  const close = async (): Promise<void> => {
    await context.close();
    // Its last processes may still write there.
    await rm(profile, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  };
  const assertNoProblems = (): void => {
    const found = problems.splice(0);
    if (found.length > 0) throw new Error(`The browser complained: ${found.join('; ')}`);
  };
  return { page, problems, assertNoProblems, close };
}

/** Mantine's dialogs have their own <header>, which is never active together with the page's: the page behind a dialog is inert. */
const DIALOG_RULES = ['landmark-no-duplicate-banner', 'landmark-unique'];

/** Colours are in between while something fades in, or changes with the scheme. */
const IS_STILL = `document.getAnimations().every(
  ({ playState, effect }) => playState !== 'running' || effect.getComputedTiming().iterations === Infinity,
)`;

export type Scheme = 'light' | 'dark';

/** Axe takes a second of a quiet core for each: `npm run chaos` checks both. */
const SCHEMES = firstOf<Scheme>(['light', 'dark']);

/** Checks a page for what keeps people from using it: in the schemes that are given, else in both, of which `npm test` takes one. */
export async function expectAccessiblePage(page: Page, what: string, schemes: readonly Scheme[] = SCHEMES): Promise<void> {
  for (const scheme of schemes) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.locator(`html[data-mantine-color-scheme=${scheme}]`).waitFor({ state: 'attached' });
    await waitFor(() => page.evaluate<boolean>(IS_STILL), { deadlineMs: 30_000, everyMs: 20, what: 'the page to stand still' });
    expect(await violationsOf(page), `${what}, ${scheme}`).toEqual([]);
  }
}

/** What axe finds in the page as it is, as `rule at element; element`. It runs in the page, which keeps it until the next one is loaded. */
export async function violationsOf(page: Page): Promise<string[]> {
  // Frames would need an axe of their own.
  expect(page.frames()).toHaveLength(1);
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(axe.source);
  const hasDialog = (await page.getByRole('dialog').count()) > 0;
  const disabled = hasDialog ? DIALOG_RULES : [];
  const options = { resultTypes: ['violations'], rules: Object.fromEntries(disabled.map((rule) => [rule, { enabled: false }])) };
  return await page.evaluate<string[]>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ' at ' + nodes.map(({ target }) => target.join(' ')).join('; ')))`,
  );
}
