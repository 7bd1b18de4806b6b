import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { setPriority, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CDPSession, chromium, type Page } from 'playwright-core';
import { wait } from '#shared/time/wait.ts';
import { progress } from '../../bench-options.ts';
import { print } from '../../print.ts';
import { percentile } from '../../statistics.ts';
import { FRAME_RECORDER, type FrameRecord } from './frame-recorder.ts';
import { type TracedFrame, traceFrames } from './frame-trace.ts';
import { ADMIN_KEY } from './start-fleet.ts';

const finder = new URL('../../../../services/local/set-up/provide-chromium.mjs', import.meta.url).href;
const MINUTE_MS = 60_000;
const SIZE = { width: 1440, height: 900 };
/** Of a step that a page does not offer, as a second page of few rows. */
const SHORT_MS = 2000;

interface MemoryReading {
  minute: number;
  heapMb: number;
  nodes: number;
  listeners: number;
}

/** A person's round through the pages while events arrive. Each step shows or changes something and then watches it. */
const STEPS: [name: string, act: (page: Page) => Promise<unknown>, watchMs: number][] = [
  ['tasks', (page) => follow(page, 'Tasks'), 6000],
  ['tasks: scroll', scroll, 0],
  ['tasks: more rows', (page) => press(page, 'Show more'), 3000],
  ['tasks: scroll more rows', scroll, 0],
  ['tasks: a filter', (page) => page.locator('select[aria-label="Agent"]').selectOption('agent-9', { timeout: SHORT_MS }), 3000],
  ['tasks: two filters', (page) => page.locator('select[aria-label="Source"]').selectOption('webhook', { timeout: SHORT_MS }), 3000],
  ['tasks: clear', (page) => press(page, 'Clear'), 2000],
  ['tasks: text', (page) => page.locator('[data-search]').fill('customer 4711'), 5000],
  ['tasks: clear text', (page) => press(page, 'Clear'), 2000],
  ['task', (page) => page.locator('tbody a').first().click({ timeout: SHORT_MS }), 4000],
  ['now', (page) => follow(page, 'Now'), 10_000],
  ['failures', (page) => follow(page, 'Failures'), 5000],
  ['sessions', (page) => follow(page, 'Sessions'), 5000],
  ['sessions: scroll', scroll, 0],
  ['queues', (page) => follow(page, 'Queues'), 2000],
  ['queues: sort', (page) => page.locator('thead button').first().click({ timeout: SHORT_MS }), 2000],
  ['usage', (page) => follow(page, 'Usage'), 2000],
];

const LONG_FRAME_MS = 50;

/** How far behind the browser others are, as `nice` counts. */
const BEHIND = 15;

interface FramesOptions {
  url: string;
  minutes: number;
  /** Processes that share the machine with the browser. */
  others: readonly number[];
}

/**
 * Uses the console for some minutes and prints frames, calls and memory. The browser goes before all others: a person's has a machine of its
 * own, and a frame that waits for a core of the fleet says nothing of the page.
 */
export async function measureFrames({ url, minutes, others }: FramesOptions): Promise<void> {
  const { findChromium } = (await import(finder)) as { findChromium: () => string | null };
  const profile = await mkdtemp(join(tmpdir(), 'muster-bench-browser-'));
  const args = ['--no-sandbox', '--disable-gpu', '--enable-precise-memory-info'];
  const context = await chromium.launchPersistentContext(profile, { executablePath: findChromium() ?? 'chromium', args, viewport: SIZE });
  try {
    // Once it runs: it would inherit the place of this process.
    await Promise.all(others.map(putBehind));
    const page = context.pages()[0] ?? (await context.newPage());
    await page.addInitScript(FRAME_RECORDER);
    await signIn(page, url);
    const { readings, longFrames } = await useConsole(page, minutes);
    printFrames(await page.evaluate<FrameRecord>('window.__record'));
    printWork(longFrames);
    printMemory(readings);
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true });
  }
}

/** Every thread of a process: on Linux each has a place of its own. */
async function putBehind(pid: number): Promise<void> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [`${pid}`]);
  for (const thread of threads) setPriority(Number(thread), BEHIND);
}

async function signIn(page: Page, url: string): Promise<void> {
  await page.goto(`${url}/sign-in`);
  await page.fill('#key', ADMIN_KEY);
  await page.click('main button');
  await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
}

interface Used {
  readings: MemoryReading[];
  longFrames: TracedFrame[];
}

async function useConsole(page: Page, minutes: number): Promise<Used> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable');
  const startedAt = performance.now();
  const used: Used = { readings: [], longFrames: [] };
  const minute = (): number => (performance.now() - startedAt) / MINUTE_MS;
  while (minute() < minutes) {
    // Of a round each: what a trace holds stays bounded.
    const endTrace = await traceFrames(session, LONG_FRAME_MS);
    for (const [name, act, watchMs] of STEPS) {
      await page.evaluate(`window.__record.step = ${JSON.stringify(name)}`);
      await act(page).catch((error: Error) => progress(`${name}: ${error.message.split('\n')[0]}`));
      await wait(watchMs);
    }
    await page.evaluate("window.__record.step = 'between rounds'");
    used.longFrames.push(...(await endTrace()));
    used.readings.push(await readMemory(session, minute()));
    progress(`${minute().toFixed(1)} minutes, ${JSON.stringify(used.readings.at(-1))}`);
  }
  return used;
}

async function follow(page: Page, text: string): Promise<void> {
  // By CSS: to find by role computes the role of every element, for longer than a frame.
  await page.locator(`nav[aria-label="Main"] a:text-is("${text}")`).click();
  await page.locator(`h1:text-is("${text}")`).waitFor();
}

async function press(page: Page, text: string): Promise<void> {
  await page.locator(`main button:has-text("${text}")`).first().click({ timeout: SHORT_MS });
}

/** Down by a wheel, as far as it goes, and up again. */
async function scroll(page: Page): Promise<void> {
  await page.mouse.move(SIZE.width / 2, SIZE.height / 2);
  for (let turn = 0; turn < 30; turn += 1) {
    await page.mouse.wheel(0, turn < 20 ? 200 : -500);
    await wait(50);
  }
  await page.mouse.move(5, 5);
}

async function readMemory(session: CDPSession, minute: number): Promise<MemoryReading> {
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (name: string): number => metrics.find((metric) => metric.name === name)?.value ?? 0;
  return { minute, heapMb: of('JSHeapUsedSize') / 1_000_000, nodes: of('Nodes'), listeners: of('JSEventListeners') };
}

function printFrames({ steps, longest, calls = {} }: FrameRecord): void {
  print(
    '\n| step                     | frames |  p50, ms |  p99, ms | p99.9, ms |  max, ms | over 50 ms | long by the browser | blocked, ms |',
  );
  print('| --- | --- | --- | --- | --- | --- | --- | --- | --- |');
  const all = Object.entries(steps).filter(([name]) => STEPS.some(([step]) => step === name));
  const total = all.reduce<number[]>((sum, [, { frames }]) => frames.map((count, ms) => count + (sum[ms] ?? 0)), []);
  const sum = { frames: total, longFrames: 0, blockedMs: 0 };
  for (const [name, step] of all) {
    sum.longFrames += step.longFrames;
    sum.blockedMs += step.blockedMs;
    printStep(name, step);
  }
  printStep('all', sum);
  printLongFrames(longest);
  print('\n| call                                     |  count |  p50, ms |  p99, ms |  max, ms |\n| --- | --- | --- | --- | --- |');
  for (const [path, times] of Object.entries(calls).toSorted(([one], [other]) => (one < other ? -1 : 1))) {
    const figures = [times.length, percentile(times, 0.5), percentile(times, 0.99), Math.max(...times)];
    print(`| ${path.padEnd(40)} | ${figures.map((figure) => `${figure}`.padStart(8)).join(' | ')} |`);
  }
}

/** Where the time of the longest frames went, ms: how much of it scripts took, and when rendering, style and layout began. */
function printLongFrames(longest: FrameRecord['longest']): void {
  if (longest.length === 0) return;
  print('\n| long by the browser      | length, ms | of it scripts | rendering after | style and layout after | longest script |');
  print('| --- | --- | --- | --- | --- | --- |');
  for (const { step, script, ...times } of longest) {
    const figures = [times.durationMs, times.scriptsMs, times.beforeRenderMs, times.beforeLayoutMs];
    print(`| ${step.padEnd(24)} | ${figures.map((figure) => figure.toFixed(0).padStart(6)).join(' | ')} | ${script} |`);
  }
}

/** What a page works in a long frame; the rest of it is a wait, mostly for a core. */
function printWork(frames: readonly TracedFrame[]): void {
  const longest = Math.max(0, ...frames.map(({ lengthMs }) => lengthMs));
  const longestCpu = Math.max(0, ...frames.map(({ cpuMs }) => cpuMs));
  const lengths = frames
    .toSorted((one, other) => other.cpuMs - one.cpuMs)
    .map(({ lengthMs, cpuMs }) => `${cpuMs.toFixed(0)} of ${lengthMs.toFixed(0)}`);
  print(`\n${frames.length} frames of the trace are over ${LONG_FRAME_MS} ms, the longest ${longest.toFixed(0)} ms.`);
  print(`The page's thread used at most ${longestCpu.toFixed(0)} ms of CPU in one of them: ${lengths.join(', ') || 'none'}.`);
}

function printStep(name: string, { frames, longFrames, blockedMs }: FrameRecord['steps'][string]): void {
  const count = frames.reduce((sum, each) => sum + each, 0);
  const long = frames.slice(LONG_FRAME_MS + 1).reduce((sum, each) => sum + each, 0);
  const figures = [
    count,
    lengthAt(frames, 0.5),
    lengthAt(frames, 0.99),
    lengthAt(frames, 0.999),
    frames.findLastIndex((each) => each > 0),
    long,
    longFrames,
    blockedMs,
  ];
  print(`| ${name.padEnd(24)} | ${figures.map((figure) => `${Math.round(figure)}`.padStart(8)).join(' | ')} |`);
}

/** The length that this share of the frames does not exceed, ms. */
function lengthAt(frames: readonly number[], share: number): number {
  const wanted = frames.reduce((sum, each) => sum + each, 0) * share;
  let seen = 0;
  return frames.findIndex((count) => (seen += count) >= wanted);
}

function printMemory(readings: readonly MemoryReading[]): void {
  print('\n| minute | heap after GC, MB | DOM nodes | listeners |\n| --- | --- | --- | --- |');
  for (const { minute, heapMb, nodes, listeners } of readings) {
    print(`| ${minute.toFixed(1).padStart(6)} | ${heapMb.toFixed(1).padStart(8)} | ${nodes} | ${listeners} |`);
  }
}
