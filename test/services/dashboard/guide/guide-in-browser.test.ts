import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import express from 'express';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { guideRoutes } from '../../../../services/dashboard/guide/guide-routes.ts';
import { serveApp, type ServedApp } from '../../../support/serve-app.ts';
import { firstOf } from '../../../support/test-environment.ts';
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

describe('every page', () => {
  it('has links that lead somewhere, and loads nothing from elsewhere', async () => {
    const ids = new Map([...pages].map(([address, html]) => [address, idsOf(html)]));
    const files = new Set<string>();
    const broken: string[] = [];
    for (const [address, html] of pages) {
      for (const [, kind = '', target = ''] of html.matchAll(/<(a|link|script|img)\b[^>]*? (?:href|src)="([^"]+)"/g)) {
        if (kind === 'a' && /^https?:/.test(target)) continue;
        const { host, pathname, hash } = new URL(target, `http://guide${address}`);
        const anchors = ids.get(pathname);
        if (host !== 'guide') broken.push(`${address} loads ${target}`);
        else if (anchors === undefined) files.add(pathname);
        else if (hash !== '' && !anchors.has(decodeURIComponent(hash.slice(1)))) broken.push(`${address} -> ${target}`);
      }
    }
    for (const path of files) if ((await fetch(`${served.url}${path}`)).status !== 200) broken.push(path);
    expect(broken).toEqual([]);
    expect(pages.size).toBeGreaterThan(30);
    expect(files.size).toBeGreaterThan(30);
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

  /** Shows a page at each width, and checks it in both colour schemes. */
  async function check(address: string): Promise<void> {
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`${served.url}${address}`, { waitUntil: 'networkidle' });
      expect(await page.evaluate<number>('document.documentElement.scrollWidth'), `${address} at ${width}`).toBe(width);
      for (const colorScheme of SCHEMES) {
        await page.emulateMedia({ colorScheme });
        await page.locator(colorScheme === 'dark' ? 'html.dark' : 'html:not(.dark)').waitFor({ state: 'attached' });
        expect(await violationsOf(page), `${address} at ${width}, ${colorScheme}`).toEqual([]);
      }
    }
    browser.assertNoProblems();
  }

  it.each(SHOWN)('/guide/%s is accessible and as wide as its window, in both schemes and sizes', (name) => check(`/guide/${name}`));

  it('the same holds for the other pages', async () => {
    for (const address of firstOf(
      [...pages.keys()].filter((each) => !SHOWN.includes(each.slice('/guide/'.length))),
      0,
    ))
      await check(address);
  });

  it('finds a word in the pages', async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.goto(`${served.url}/guide/`, { waitUntil: 'networkidle' });
    await page.keyboard.press('Control+k');
    await page.locator('#localsearch-input').fill('idempotency');
    await page.getByRole('option').first().waitFor();
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/guide\/.+/);
    browser.assertNoProblems();
  });
});
