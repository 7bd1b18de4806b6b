import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import express from 'express';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { guideRoutes } from '../../../../services/dashboard/guide/guide-routes.ts';
import { serveApp, type ServedApp } from '../../../support/serve-app.ts';
import { testEnvironment } from '../../../support/test-environment.ts';
import { builtGuide } from '../built-console.ts';
import { hasBrowser, openBrowser, violationsOf, type TestBrowser } from '../test-browser.ts';

// The guide may have to be built first.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 });

let folder: string;
/** The HTML of each page by its address. */
let pages: ReadonlyMap<string, string>;
let served: ServedApp;

beforeAll(async () => {
  folder = await builtGuide();
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.html') && name !== '404.html');
  pages = new Map(names.map((name) => [addressOf(name), readFileSync(join(folder, name), 'utf8')]));
  served = await serveApp(express().use(guideRoutes(folder)));
});
afterAll(() => served.close());

const addressOf = (name: string): string => `/guide/${name.replace(/(?:index)?\.html$/, '')}`;
const idsOf = (html: string): Set<string> => new Set([...html.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));

/** Addresses in a page: what it links to and what it loads. */
function targetsOf(address: string, html: string): { address: string; isLink: boolean; url: URL }[] {
  return [...html.matchAll(/<(a|link|script|img)\b[^>]*? (?:href|src)="([^"]+)"/g)].map(([, kind = '', target = '']) => ({
    address,
    isLink: kind === 'a',
    url: new URL(target, `http://guide${address}`),
  }));
}

/** A large body that is not read keeps its connection. */
async function statusOf(path: string): Promise<number> {
  const response = await fetch(`${served.url}${path}`);
  await response.arrayBuffer();
  return response.status;
}

describe('every page', () => {
  it('has links that lead somewhere, and loads nothing from elsewhere', async () => {
    const ids = new Map([...pages].map(([address, html]) => [address, idsOf(html)]));
    const targets = [...pages].flatMap(([address, html]) => targetsOf(address, html));
    const own = targets.filter(({ url }) => url.host === 'guide');
    const isWithoutAnchor = ({ url: { pathname, hash } }: (typeof own)[number]): boolean =>
      hash !== '' && ids.get(pathname)?.has(decodeURIComponent(hash.slice(1))) === false;
    expect(targets.filter(({ isLink, url }) => !isLink && url.host !== 'guide').map(({ url }) => url.href)).toEqual([]);
    expect(own.filter(isWithoutAnchor).map(({ address, url }) => `${address} -> ${url.pathname}${url.hash}`)).toEqual([]);
    const paths = [...new Set(own.map(({ url }) => url.pathname))];
    const answers = await Promise.all(paths.map(async (path) => [path, await statusOf(path)] as const));
    expect(answers.filter(([, status]) => status !== 200)).toEqual([]);
    expect(pages.size).toBeGreaterThan(30);
    expect(paths.length).toBeGreaterThan(60);
  });

  it('has one first heading, and no diagram that was left as text', () => {
    const wrong = [...pages].filter(([, html]) => (html.match(/<h1\b/g)?.length ?? 0) !== 1 || html.includes('language-mermaid'));
    expect(wrong.map(([address]) => address)).toEqual([]);
  });

  it('stands in llms.txt, whose addresses are those of its Markdown', async () => {
    const text = await (await fetch(`${served.url}/guide/llms.txt`)).text();
    const listed = [...text.matchAll(/\]\((\/guide\/[^)]+)\.md\)/g)].map(([, address = '']) => address);
    expect(listed.toSorted()).toEqual([...pages.keys()].filter((address) => address !== '/guide/').toSorted());
    const markdown = await fetch(`${served.url}${listed[0]}.md`);
    expect([markdown.status, (await markdown.text()).startsWith('# ')]).toEqual([200, true]);
  });
});

describe.skipIf(!hasBrowser)('in Chromium', () => {
  let browser: TestBrowser;
  let page: Page;

  beforeAll(async () => {
    browser = await openBrowser(served.url);
    ({ page } = browser);
  });
  afterAll(() => browser.close());

  const WIDTHS = [1440, 390];
  const SCHEMES = ['light', 'dark'] as const;
  const SHOWN = ['', 'limits', 'reference/glossary'];

  type Look = (width: number) => Promise<string[]>;

  /** Shows something at each width in both colour schemes. Resolves to what is wrong with it. */
  async function problemsOf(show: Look): Promise<string[]> {
    const problems: string[] = [];
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      problems.push(...(await show(width)));
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        await page.locator(colorScheme === 'dark' ? 'html.dark' : 'html:not(.dark)').waitFor({ state: 'attached' });
        problems.push(...(await violationsOf(page)).map((violation) => `${violation} at ${width}, ${colorScheme}`));
      }
    }
    return [...problems, ...browser.problems.splice(0)];
  }

  const open = (address: string): Promise<unknown> => page.goto(`${served.url}${address}`, { waitUntil: 'networkidle' });

  /** The page, which has to be as wide as its window. */
  const pageAt =
    (address: string): Look =>
    async (width) => {
      await open(address);
      const shown = await page.evaluate<number>('document.documentElement.scrollWidth');
      return shown === width ? [] : [`${shown} wide at ${width}`];
    };

  /** The search with what it finds, its details shown too. */
  const search: Look = async () => {
    await open('/guide/limits');
    await page.keyboard.press('Control+k');
    await page.locator('#localsearch-input').fill('idempotency');
    await page.getByRole('option').first().waitFor();
    return [];
  };

  /** The lists of pages and of headings, which a phone hides in menus. */
  const menus: Look = async (width) => {
    await open('/guide/limits');
    if (width > 1000) return [];
    await page.locator('.VPLocalNavOutlineDropdown button').click();
    await page.locator('.VPLocalNavOutlineDropdown .items').waitFor();
    return [];
  };

  const pagesOfPhone: Look = async (width) => {
    await open('/guide/limits');
    if (width > 1000) return [];
    await page.locator('.VPLocalNav .menu').click();
    await page.locator('.VPSidebar.open').waitFor();
    return [];
  };

  const navigationOfPhone: Look = async (width) => {
    await open('/guide/limits');
    if (width > 1000) return [];
    await page.locator('.VPNavBarHamburger').click();
    await page.locator('.VPNavScreen').waitFor();
    return [];
  };

  it.each(SHOWN)('/guide/%s is accessible, and as wide as its window', async (name) => {
    expect(await problemsOf(pageAt(`/guide/${name}`))).toEqual([]);
  });

  it.runIf(testEnvironment.isChaos)('so are the other pages', { timeout: 1_200_000 }, async () => {
    const found: string[][] = [];
    for (const address of pages.keys()) found.push([address, ...(await problemsOf(pageAt(address)))]);
    expect(found.filter(([, ...problems]) => problems.length > 0)).toEqual([]);
  });

  it.each([
    ['the search with what it finds', search],
    ['the headings of a page', menus],
    ['the list of pages', pagesOfPhone],
    ['the navigation', navigationOfPhone],
  ])('%s is accessible', async (_name, look) => {
    expect(await problemsOf(look)).toEqual([]);
  });

  it('finds a word in the pages', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${served.url}/guide/`, { waitUntil: 'networkidle' });
    await page.keyboard.press('Control+k');
    await page.locator('#localsearch-input').fill('idempotency');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/guide\/.+/);
    expect(browser.problems.splice(0)).toEqual([]);
  });
});
