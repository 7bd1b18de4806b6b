import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { settingsSchema } from '#shared/config/settings/settings.ts';
import { startFakeHttpEndpoint } from '../support/fake-http-endpoint.ts';
import { firstOf } from '../support/test-environment.ts';
import { waitFor } from '../support/wait-for.ts';
import { openFleet, type Fleet } from '../support/fleet/open-fleet.ts';
import { childEnvironment } from '../support/test-environment.ts';
import { pathWithClaude } from './fake-claude.ts';
import { linkPackage } from './link-package.ts';
import { fieldsOf, orderOf, readWorkflow, requestOf } from './n8n-workflow.ts';
import { listPages, ROOT, snippetsOf, type Snippet } from './markdown.ts';
import { folderOf, runPage, runPages, saveFiles, SHELL, writeConfiguration } from './run-page.ts';

const snippets = listPages().flatMap(snippetsOf);
const runInOrder = new Set(runPages.map(({ page }) => page));
const shellPages = Map.groupBy(
  snippets.filter(({ page, language, isSkipped }) => language === 'sh' && !isSkipped && !runInOrder.has(page)),
  ({ page }) => page,
);
const LANGUAGES = new Set(['sh', 'ts', 'python', 'html', 'json', 'text', 'mermaid']);
const SNIPPET_MS = 60_000;
/** Of the pages with commands, each of which starts a process: a third. `npm run chaos` runs all. */
const PAGES = Math.ceil(shellPages.size / 3);

interface Ran {
  code: number | null;
  /** Both streams, as a person would see them. */
  shown: string;
}

let fleet: Fleet;
let folder: string;
let url: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'muster-docs-'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  linkPackage(folder);
  for (const page of runPages) saveFiles(folder, page);
  const config = writeConfiguration(folder, {
    agents: { echo: { kind: 'echo' }, 'word-count': { kind: 'function', file: join(ROOT, 'agents/word-count.ts') } },
    limits: { httpPerMinute: 1_000_000 },
    // Callbacks of pages come to this machine.
    outbound: { allowNetworks: ['127.0.0.0/8'] },
  });
  fleet = await openFleet({ env: { MUSTER_CONFIG: config } });
  const api = await fleet.start('api');
  url = api.url;
  await Promise.all([fleet.start('worker', { PATH: pathWithClaude(folder), ANTHROPIC_API_KEY: 'none' }), fleet.start('scheduler')]);
}, 60_000);

afterAll(async () => {
  await fleet.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a block as somebody would who pasted it into a shell in the clone, with a fleet that runs. */
async function runInShell({ text, stopsAfterMs }: Snippet): Promise<Ran> {
  const env = childEnvironment({ MUSTER_URL: url, MUSTER_API_KEY: fleet.adminKey, REDIS_URL: fleet.redis.url });
  const child = spawn('bash', ['-c', `${SHELL}\n${text}`], { cwd: folder, env, detached: true });
  let shown = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  const stop = (): void => void process.kill(-(child.pid ?? 0), 'SIGTERM');
  const timer = setTimeout(stop, stopsAfterMs ?? SNIPPET_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  return { code, shown };
}

describe('the commands of the documentation, run in order', () => {
  it.each(firstOf([...shellPages], PAGES))(
    '%s',
    async (page, blocks) => {
      for (const block of blocks) {
        const { code, shown } = await runInShell(block);
        const missing = block.shows.filter((text) => !shown.includes(text));
        const isEndedWell = block.stopsAfterMs !== null || code === block.exits;
        // The whole of what was shown is in the failure's text.
        expect({ at: `${page}:${block.line}`, isEndedWell, missing, shown }).toEqual({
          at: `${page}:${block.line}`,
          isEndedWell: true,
          missing: [],
          shown,
        });
      }
    },
    5 * SNIPPET_MS,
  );
});

describe('a page whose files and programs need each other works from top to bottom', () => {
  it.each(runPages.map((each) => [each.page, each] as const))(
    '%s',
    async (_page, page) => {
      const env = { MUSTER_URL: url, MUSTER_API_KEY: fleet.adminKey, REDIS_URL: fleet.redis.url };
      for (const { ran, expected } of await runPage(folder, page, env)) expect(ran).toEqual(expected);
    },
    5 * SNIPPET_MS,
  );
});

it('the workflow of docs/with-n8n.md sends one task, however often its node is repeated, and goes on with the result', async () => {
  const text = snippetsOf('docs/with-n8n.md').find(({ language }) => language === 'json')?.text ?? '';
  const workflow = readWorkflow(text);
  expect(orderOf(workflow, 'Start')).toEqual(workflow.nodes.map(({ name }) => name));
  const n8n = await startFakeHttpEndpoint((response) => response.end());
  onTestFinished(() => n8n.close());
  const $execution = { id: '231', resumeUrl: `${n8n.url}/webhook-waiting/231?signature=abc` };
  const { path, init } = requestOf(workflow, 'Send the task', { $json: {}, $execution, $itemIndex: 0 });
  const headers = { ...init.headers, Authorization: `Bearer ${fleet.adminKey}` };
  const answers = [];
  for (let tries = 0; tries < 2; tries += 1) answers.push(await fetch(`${url}${path}`, { ...init, headers }));
  expect(answers.map(({ status }) => status)).toEqual([202, 200]);
  await waitFor(() => n8n.requests.length > 0, { deadlineMs: SNIPPET_MS, what: 'the callback' });
  const { path: called, body } = n8n.requests[0] ?? { path: '', body: '' };
  expect(called).toBe('/webhook-waiting/231?signature=abc');
  const $json = { body: JSON.parse(body) as unknown };
  const fields = fieldsOf(workflow, 'Read the result', { $json, $execution, $itemIndex: 0 });
  expect(fields).toEqual({ status: 'completed', answer: 'Hello from n8n', error: '' });
}, 70_000);

describe('the code of the documentation', () => {
  const code = snippets.filter(({ language }) => language === 'ts');
  const where = join(ROOT, '.muster', `docs-${process.pid}`);
  const fileOf = ({ page, line, file }: Snippet): string => {
    const folderOfPage = folderOf(where, page);
    return runInOrder.has(page) ? join(folderOfPage, file ?? `program-${line}.ts`) : `${folderOfPage}-${line}.ts`;
  };

  beforeAll(() => {
    mkdirSync(where, { recursive: true });
    linkPackage(where);
    if (!existsSync(join(where, 'agents'))) symlinkSync(join(ROOT, 'agents'), join(where, 'agents'));
    for (const snippet of code) {
      mkdirSync(dirname(fileOf(snippet)), { recursive: true });
      writeFileSync(fileOf(snippet), snippet.text);
    }
    const config = {
      extends: '../../tsconfig.json',
      compilerOptions: { incremental: false, tsBuildInfoFile: null },
      include: ['**/*.ts'],
      exclude: ['node_modules'],
    };
    writeFileSync(join(where, 'tsconfig.json'), JSON.stringify(config));
  });
  afterAll(() => rmSync(where, { recursive: true, force: true }));

  it(
    'compiles',
    async () => {
      const child = spawn(join(ROOT, 'node_modules/.bin/tsc'), ['-p', where], { cwd: ROOT, env: childEnvironment() });
      let shown = '';
      child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
      await once(child, 'close');
      expect(shown).toBe('');
    },
    SNIPPET_MS,
  );

  it.each(code.filter(({ text }) => text.includes('defineConfig')).map((snippet) => [`${snippet.page}:${snippet.line}`, snippet] as const))(
    'of %s is a configuration that is accepted',
    async (_at, snippet) => {
      const module = (await import(fileOf(snippet))) as { default: unknown };
      expect(settingsSchema.safeParse(module.default).error).toBeUndefined();
    },
  );

  it.each(snippets.filter(({ language }) => language === 'json').map((snippet) => [`${snippet.page}:${snippet.line}`, snippet] as const))(
    'of %s is JSON',
    (_at, { text }) => {
      expect(() => JSON.parse(text) as unknown).not.toThrow();
    },
  );
});

it('every block says in which language it is', () => {
  expect(snippets.filter(({ language }) => !LANGUAGES.has(language)).map(({ page, line }) => `${page}:${line}`)).toEqual([]);
  expect(snippets.length).toBeGreaterThan(20);
});
