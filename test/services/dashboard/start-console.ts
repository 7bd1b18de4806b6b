import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Scope } from '#shared/tenants/key-store.ts';
import { createApiService } from '../../../services/api/create-api-service.ts';
import { createWorkerService } from '../../../services/worker/create-worker-service.ts';
import type { SettingsInput } from '#shared/config/settings/settings.ts';
import { waitFor } from '../../support/wait-for.ts';
import { builtConsole } from './built-console.ts';
import { startDashboard, type DashboardOptions, type RunningDashboard } from './running-dashboard.ts';
import { expectAccessiblePage, openBrowser, type TestBrowser } from './test-browser.ts';

export interface RunningConsole {
  readonly dashboard: RunningDashboard;
  readonly browser: TestBrowser;
  readonly page: Page;
  /** Signs the browser in with a new key, after signing out. */
  signIn(scopes: Scope[], tenant?: string): Promise<void>;
  /** Shows a page and waits for its heading. */
  open(path: string): Promise<void>;
  /** Calls the API with a key of all scopes, and resolves to the body. */
  api<Body = Record<string, unknown>>(method: string, path: string, json?: unknown): Promise<Body>;
  /** The shown page is accessible in both colour schemes, not wider than a small or a large window, and the browser reports nothing. */
  expectPage(what: string): Promise<void>;
  close(): Promise<void>;
}

interface ConsoleOptions {
  settings?: SettingsInput;
  env?: Record<string, string>;
  /** Services besides the API and a worker. */
  more?: DashboardOptions['more'];
}

const LARGE = { width: 1440, height: 900 };
const SMALL = { width: 390, height: 844 };

/** The built console before an API and a worker, and a browser that is signed in with all scopes. */
export async function startConsole({ settings = {}, env = {}, more = () => [] }: ConsoleOptions = {}): Promise<RunningConsole> {
  const dashboard = await startDashboard(settings, {
    env,
    built: await builtConsole(),
    more: (parts) => [createApiService(parts), createWorkerService(parts), ...more(parts)],
  });
  const browser = await openBrowser(dashboard.url);
  const { page } = browser;
  await page.setViewportSize(LARGE);
  const signIn: RunningConsole['signIn'] = async (scopes, tenant) => {
    // A page that is left open would go to the sign-in by itself once a call finds it signed out.
    await page.goto('about:blank');
    await page.context().clearCookies();
    await page.goto(`${dashboard.url}/sign-in`);
    await page.fill('#key', await dashboard.newSecret(scopes, tenant));
    await page.click('main button');
    // The form has a heading of its own.
    await page.locator('#key').waitFor({ state: 'detached' });
    await page.getByRole('heading', { level: 1 }).waitFor();
  };
  const open: RunningConsole['open'] = async (path) => {
    await page.goto(`${dashboard.url}${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
  };
  const secret = await dashboard.newSecret(['admin']);
  const api = async <Body>(method: string, path: string, json?: unknown): Promise<Body> => {
    const answer = await dashboard.call(method, path, {
      headers: { authorization: `Bearer ${secret}` },
      ...(json === undefined ? {} : { json }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${text}`);
    return (text === '' ? null : JSON.parse(text)) as Body;
  };
  const expectPage: RunningConsole['expectPage'] = async (what) => {
    await expectAccessiblePage(page, what);
    const widths: number[][] = [];
    for (const size of [SMALL, LARGE]) {
      await page.setViewportSize(size);
      widths.push(await settledWidths(page, size.width));
    }
    // Last: a failure leaves the window as the next test expects it.
    expect(widths, `${what}: its width, and what is beside its content and below the window`).toEqual(
      [SMALL, LARGE].map(({ width }) => [width, 0, 0]),
    );
    browser.assertNoProblems();
  };
  const close = async (): Promise<void> => {
    await browser.close();
    await dashboard.close();
  };
  await signIn(['admin']);
  return { dashboard, browser, page, signIn, open, api, expectPage, close };
}

/** For a plot to have the width of a new window: it is drawn after its place was measured. */
const SETTLE_MS = 3000;

/**
 * The width of a page in a window of this width, what its content is wider than its box, and what the page is higher than the window, which
 * would be a second scroll bar: once nothing is too large, or after a while.
 */
async function settledWidths(page: Page, width: number): Promise<number[]> {
  let widths: number[] = [];
  const fits = async (): Promise<boolean> => {
    widths = await page.evaluate<number[]>(
      // The content scrolls in a box of its own.
      `(({ scrollWidth, scrollHeight }, main) => [scrollWidth, main.scrollWidth - main.clientWidth, scrollHeight - innerHeight])(
        document.documentElement, document.querySelector("main"))`,
    );
    return widths[0] === width && widths[1] === 0 && widths[2] === 0;
  };
  await waitFor(fits, { deadlineMs: SETTLE_MS, what: 'the page to fit' }).catch(() => false);
  return widths;
}
