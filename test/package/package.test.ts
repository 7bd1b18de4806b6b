import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { delimiter, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { ENTRIES, fileOfEntry } from '../../package/entries.ts';
import { ROOT } from '../docs/markdown.ts';
import { packedFleet, type PackedFleet } from '../support/fleet/packed-fleet.ts';
import { endWithParent } from '../support/runner/end-with-parent.ts';
import { hasNode20, node20 } from '../support/runner/find-node-20.ts';
import { childEnvironment } from '../support/test-environment.ts';
import { useFolder } from '../support/use-folder.ts';
import { waitFor } from '../support/wait-for.ts';

/** A process starts slowly on a machine with much to do. */
const START_MS = 60_000;
vi.setConfig({ testTimeout: 2 * START_MS });

const folder = await useFolder('muster-package-');
let packed: PackedFleet;
let files: string[];

beforeAll(async () => {
  packed = await packedFleet();
  files = filesIn(packed.package);
}, 2 * START_MS);

function filesIn(place: string): string[] {
  const all = readdirSync(place, { recursive: true, encoding: 'utf8' });
  return all.filter((path) => statSync(join(place, path)).isFile()).toSorted();
}

/** The sources that run in a fleet: not the console, which is built, nor what it keeps for npm scripts of the repository. */
function sources(): string[] {
  const inside = ['services', 'shared'].flatMap((top) => filesIn(join(ROOT, top)).map((path) => `${top}/${path}`));
  return inside.filter((path) => !/^services\/dashboard\/(?:console|dist|dist\.draft|guide\/dist|guide\/dist\.draft)\//.test(path));
}

const OTHERS = [
  /^(?:CHANGELOG\.md|LICENSE|README\.md|package\.json)$/,
  /^entries\/(?:[\w-]+|shared\/[\w-]+)\.js(?:\.map)?$/,
  /^shared\/.*\.d\.ts$/,
  /^services\/local\/init\/template\/(?:[\w-]+\/)?[\w.-]+\.template$/,
  /^k8s\/(?:base|components\/[\w-]+)\/[\w.-]+\.yaml$/,
  /^services\/dashboard\/assets\/[\w-]+\.(?:css|svg|js)$/,
  /^services\/dashboard\/guide\/dist\/[\w@./-]+$/,
  /^services\/dashboard\/dist\/(?:index\.html|client\.js(?:\.map)?|assets\/[\w.-]+)(?:\.br|\.gz)?$/,
];

describe('the files of the package', () => {
  it('are each module of the fleet as JavaScript with its map, each script of Redis, the console, the entries and their types', () => {
    const expected = sources().flatMap((path) => {
      if (path.endsWith('.ts')) return [path.replace(/ts$/, 'js'), path.replace(/ts$/, 'js.map')];
      if (path.endsWith('.lua')) return [path];
      if (path.endsWith('.mjs') && path !== 'services/local/set-up.mjs') return [path, `${path}.map`];
      return [];
    });
    const others = files.filter((path) => !expected.includes(path));
    expect(expected.filter((path) => !files.includes(path))).toEqual([]);
    expect(others.filter((path) => !OTHERS.some((pattern) => pattern.test(path)))).toEqual([]);
    for (const pattern of OTHERS) expect(others.filter((path) => pattern.test(path))).not.toEqual([]);
  });

  it('import only what the package depends on, and modules that are there', () => {
    const { dependencies } = JSON.parse(readFileSync(join(packed.package, 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>;
    };
    const missing = files
      .filter((path) => /\.m?js$/.test(path) && !/^services\/dashboard\/(?:guide\/)?dist\//.test(path))
      .flatMap((path) => importsIn(path).map((specifier) => `${path}: ${specifier}`));
    expect(missing.length).toBeGreaterThan(1000);
    expect(missing.filter((line) => !isThere(line, dependencies))).toEqual([]);
  });
});

function importsIn(path: string): string[] {
  const code = readFileSync(join(packed.package, path), 'utf8');
  const found = code.matchAll(/^[ \t]*(?:import|export)\b(?:[^'"`;]*?\bfrom)?\s*['"]([^'"]+)['"]|\bimport\(['"]([^'"]+)['"]\)/gm);
  return [...found].map(([, still, later]) => still ?? later ?? '');
}

function isThere(line: string, dependencies: Record<string, string>): boolean {
  const [path = '', specifier = ''] = line.split(': ');
  if (specifier.startsWith('.')) return existsSync(join(packed.package, path, '..', specifier));
  if (specifier.startsWith('#shared/')) return existsSync(join(packed.package, specifier.slice(1).replace(/\.ts$/, '.js')));
  if (specifier === '#daemon' || isBuiltin(specifier)) return true;
  const name = specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
  return Object.hasOwn(dependencies, name);
}

const BUNDLED = Object.keys(ENTRIES).filter((path) => ENTRIES[path]?.isBundled);
const CONSUMER = `
import { defineConfig, TaskFailure, type AgentFunction } from 'muster-fleet';
import { createClient, type Client } from 'muster-fleet/client';
import { Daemon } from 'muster-fleet/daemon';
import { createProducer } from 'muster-fleet/producer';
import { runAgent } from 'muster-fleet/testing';

const run: AgentFunction = async (task, { model }) => {
  if (task.input === '') throw new TaskFailure('INVALID_INPUT', 'There is no input');
  return model().modelId;
};
export default defineConfig({ agents: { mine: { kind: 'function', run } } });
// @ts-expect-error there is no such kind
defineConfig({ agents: { mine: { kind: 'functions', run } } });
export const daemon = new Daemon({ hub: 'http://127.0.0.1:1', token: 'a', handler: async ({ input }) => input });
// @ts-expect-error a daemon needs a hub
export const lost = new Daemon({ token: 'a', handler: async () => '' });
export const client: Client = createClient({ url: 'http://127.0.0.1:1', key: 'a' });
export const tried = runAgent(run, { input: 'a' });
export const producer = createProducer({ redisUrl: 'redis://127.0.0.1:1' });
`;
/** The types of the SDK itself are not strict. */
const SDK_USER = `
import { generateText } from 'ai';
import type { AgentFunction } from 'muster-fleet';

export const run: AgentFunction = async ({ input }, { model }) => (await generateText({ model: model(), prompt: input })).text;
`;

describe('what a project imports', () => {
  it.each([
    ['in a strict project that checks libraries too', CONSUMER, { skipLibCheck: false, module: 'nodenext' }],
    ['beside the AI SDK', SDK_USER, { skipLibCheck: true, module: 'nodenext' }],
  ])('has types that compile %s', async (_where, text, options) => {
    const project = await makeProject(text);
    const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true, target: 'es2024' };
    const types = { types: ['node'], typeRoots: [join(ROOT, 'node_modules/@types')] };
    const config = { compilerOptions: { ...strict, ...types, ...options }, files: ['muster.config.ts'] };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(config));
    expect(await runTool('typescript/bin/tsc', ['-p', project])).toMatchObject({ code: 0, shown: '' });
  });

  it('is as publint and Are the types wrong? want it', async () => {
    const [published, types] = await Promise.all([
      runTool('publint/src/cli.js', ['run', packed.package, '--strict', '--pack', 'false']),
      runTool('@arethetypeswrong/cli/dist/index.js', [packed.tarball, '--profile', 'esm-only', '--format', 'ascii']),
    ]);
    expect(published).toEqual({ code: 0, shown: expect.stringContaining('All good!') });
    expect(types).toEqual({ code: 0, shown: expect.stringContaining('"muster-fleet/daemon"') });
  });

  it.runIf(hasNode20).each(BUNDLED)('is small, needs no Redis and runs on Node 20: %s', async (path) => {
    const parts = entryFiles(`${fileOfEntry(path)}.js`);
    expect(parts.reduce((sum, file) => sum + gzipSync(readFileSync(join(packed.package, file))).length, 0)).toBeLessThan(60_000);
    expect(parts.flatMap(importsIn)).not.toContain('ioredis');
    expect(await load(path, node20)).toEqual({ code: 0, shown: 'true\n' });
  });

  it('has a producer', async () => {
    expect(await load('./producer', process.execPath)).toEqual({ code: 0, shown: 'true\n' });
  });
});

function load(path: string, node: string): Promise<Ran> {
  const code = `console.log(Object.keys(await import('muster-fleet${path.slice(1)}')).length > 0)`;
  return run(node, ['--input-type=module', '--eval', code], packed.folder);
}

/** An entry and the chunks that it imports. */
function entryFiles(path: string, found = new Set<string>()): string[] {
  if (found.has(path)) return [...found];
  found.add(path);
  for (const specifier of importsIn(path).filter((each) => each.startsWith('.'))) entryFiles(join(path, '..', specifier), found);
  return [...found];
}

interface Ran {
  code: number | null;
  /** Both streams. */
  shown: string;
}

function runTool(path: string, args: string[]): Promise<Ran> {
  return run(process.execPath, [join(ROOT, 'node_modules', path), ...args], folder);
}

async function run(program: string, args: string[], cwd: string, env: Record<string, string> = {}): Promise<Ran> {
  const child = spawn(program, args, { cwd, env: childEnvironment({ NO_COLOR: '1', ...env }), stdio: ['ignore', 'pipe', 'pipe'] });
  let shown = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, shown };
}

const BIN = 'node_modules/muster-fleet/services/local/muster.mjs';

describe('the command', () => {
  it('runs a fleet in a folder with two lines of configuration, its own Redis and the console included, and a task in it', async () => {
    const project = await makeProject(
      "import { defineConfig } from 'muster-fleet';\nexport default defineConfig({ agents: { hello: { kind: 'function', run: async ({ input }) => `Hello ${input}` } } });\n",
    );
    const fleet = startFleet(project);
    await waitFor(() => fleet.shown().includes('Ctrl-C'), { deadlineMs: START_MS, what: 'the fleet to be up' });
    expect(fleet.shown()).toContain('npx muster send "Hello from the fleet" --agent hello');

    const sent = await run(process.execPath, [BIN, 'send', 'world', '--agent', 'hello'], project);
    expect(sent).toEqual({ code: 0, shown: expect.stringMatching(/^Hello world$/m) });
    const { url } = JSON.parse(readFileSync(join(project, '.muster/local.json'), 'utf8')) as { url: string };
    expect(await (await fetch(`${url}/sign-in`)).text()).toContain('<html');

    const ended = once(fleet.child, 'exit');
    fleet.child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });

  it.runIf(hasNode20)('fetches Node 24 into the project, once, where the Node on the PATH is older', async () => {
    const project = await makeProject('');
    const bin = join(project, 'bin');
    mkdirSync(bin);
    // As npm is called: install --prefix <folder> and five more options, then the package.
    const npm = `#!/bin/sh\nto="$3/node_modules/\${9%@*}/bin"\nmkdir -p "$to" && ln -s '${process.execPath}' "$to/node"\n`;
    writeFileSync(join(bin, 'npm'), npm, { mode: 0o755 });
    const env = { PATH: `${bin}${delimiter}/usr/bin${delimiter}/bin` };
    const first = await run(node20, [BIN, '--version'], project, env);
    expect(first).toEqual({ code: 0, shown: expect.stringMatching(/^muster: fetching Node 24\.\d+\.\d+ into .*\n\d+\.\d+\.\d+\n$/) });
    expect(await run(node20, [BIN, '--version'], project, env)).toEqual({ code: 0, shown: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  });
});

async function makeProject(config: string): Promise<string> {
  const project = await mkdtemp(join(folder, 'project-'));
  symlinkSync(join(packed.folder, 'node_modules'), join(project, 'node_modules'));
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(project, 'muster.config.ts'), config);
  return project;
}

function startFleet(project: string): { child: ChildProcess; shown: () => string } {
  const env = childEnvironment({ PORT: '0', SHUTDOWN_GRACE_MS: '2000' });
  const child = spawn(process.execPath, [BIN, 'start'], { cwd: project, env, stdio: ['ignore', 'pipe', 'inherit'] });
  endWithParent(child);
  let shown = '';
  child.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  return { child, shown: () => shown };
}
