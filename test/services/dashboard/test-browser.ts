import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium, type Page } from 'playwright-core';
import { testEnvironment } from '../../support/test-environment.ts';

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
  page.setDefaultTimeout(15_000);
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
    await rm(profile, { recursive: true, force: true });
  };
  return { page, problems, close };
}
