import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { parse } from 'yaml';
import { environmentSchema } from '#shared/config/environment.ts';
import { ROOT, snippetsOf } from '../docs/markdown.ts';
import { startFakeModel } from '../support/agents/fake-model.ts';
import { packedFleet, type PackedFleet } from '../support/fleet/packed-fleet.ts';
import { endWithParent } from '../support/runner/end-with-parent.ts';
import { childEnvironment } from '../support/test-environment.ts';
import { useFolder } from '../support/use-folder.ts';
import { waitFor } from '../support/wait-for.ts';

/** A process starts slowly on a machine with much to do. */
const START_MS = 60_000;
vi.setConfig({ testTimeout: 2 * START_MS });
/** As the page has it built, but for its version. */
const FLEET_IMAGE = 'muster:latest';

const folder = await useFolder('muster-own-');
const project = join(folder, 'my-fleet');
const files = snippetsOf('docs/your-own-project.md').filter(({ file }) => file !== null);
let packed: PackedFleet;
let made: Ran;

beforeAll(async () => {
  packed = await packedFleet();
  const args = [
    'exec',
    '--yes',
    '--offline',
    `--package=${packed.create}`,
    '--',
    'create-muster-fleet',
    'my-fleet',
    '--fleet',
    packed.tarball,
  ];
  made = await run('npm', args, folder, { npm_config_cache: join(folder, 'cache') });
  // As an install would, but that all else comes from the repository.
  mkdirSync(join(project, 'node_modules/@types'), { recursive: true });
  for (const name of ['ai', 'zod', 'typescript', '@types/node']) link(join(ROOT, 'node_modules', name), name);
  link(packed.package, 'muster-fleet');
}, START_MS);

function link(target: string, name: string): void {
  symlinkSync(target, join(project, 'node_modules', name));
}

const read = (file: string): string => readFileSync(join(project, file), 'utf8');

interface Ran {
  code: number | null;
  /** Both streams. */
  shown: string;
}

async function run(program: string, args: string[], cwd: string, env: Record<string, string> = {}): Promise<Ran> {
  const child = spawn(program, args, { cwd, env: childEnvironment({ NO_COLOR: '1', ...env }), stdio: ['ignore', 'pipe', 'pipe'] });
  let shown = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (shown += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, shown };
}

const muster = (...args: string[]): Promise<Ran> =>
  run(process.execPath, ['node_modules/muster-fleet/services/local/muster.mjs', ...args], project);

describe('create-muster-fleet', () => {
  it('makes a project whose agent is the one of the page, and nothing in a folder with something in it', async () => {
    expect(made).toEqual({ code: 0, shown: expect.stringContaining('npm start') });
    const [agent] = files;
    expect(read('agents/triage.ts')).toBe(agent?.text);
    expect(readdirSync(project).toSorted()).toEqual([
      '.dockerignore',
      '.env.example',
      '.gitignore',
      'Dockerfile',
      'README.md',
      'agents',
      'compose.yml',
      'k8s',
      'muster.config.ts',
      'node_modules',
      'package.json',
      'tsconfig.json',
    ]);
    expect(read('package.json')).toContain(packed.tarball.split('/').at(-1));
    const again = await muster('init', '.');
    expect(again).toEqual({ code: 2, shown: expect.stringContaining('expected a new or an empty folder') });
    expect(await muster('init')).toEqual({ code: 2, shown: expect.stringContaining('Usage: muster init <folder>') });
    expect(await muster('init', 'other', '--fleet', './no.tgz')).toEqual({
      code: 2,
      shown: expect.stringContaining('there is no file at'),
    });
    expect(existsSync(join(project, 'other'))).toBe(false);
  });

  it('does not check the types of packages, since the AI SDK’s import some that no install brings', () => {
    expect(parse(read('tsconfig.json'))).toMatchObject({ compilerOptions: { strict: true, skipLibCheck: true } });
  });

  it('leaves no place of its template open', () => {
    for (const file of readdirSync(project, { recursive: true, encoding: 'utf8' })) {
      if (file.startsWith('node_modules') || !/\.\w+$|Dockerfile$/.test(file) || file === 'agents') continue;
      expect({ file, open: /__[A-Z]+__/.exec(read(file))?.[0] }).toEqual({ file, open: undefined });
    }
  });
});

describe('a project of one’s own', () => {
  it('tests itself, compiles, and runs a fleet with an agent that asks a model', async () => {
    for (const { file, text } of files) {
      mkdirSync(dirname(join(project, file ?? '')), { recursive: true });
      writeFileSync(join(project, file ?? ''), text);
    }
    const [tests, types] = await Promise.all([
      muster('test'),
      run(process.execPath, ['node_modules/typescript/bin/tsc', '-p', '.'], project),
    ]);
    expect(tests).toEqual({ code: 0, shown: expect.stringMatching(/pass 3\n/) });
    expect(types).toEqual({ code: 0, shown: '' });

    const model = await startFakeModel();
    onTestFinished(() => model.close());
    model.mock.onMessage(/.*/, { content: 'A dull day.' });
    const env = childEnvironment({ PORT: '0', SHUTDOWN_GRACE_MS: '2000', OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'none' });
    const args = ['node_modules/muster-fleet/services/local/muster.mjs', 'start'];
    const fleet = spawn(process.execPath, args, { cwd: project, env, stdio: ['ignore', 'pipe', 'inherit'] });
    endWithParent(fleet);
    let shown = '';
    fleet.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()));
    await waitFor(() => shown.includes('Ctrl-C'), { deadlineMs: START_MS, what: 'the fleet to be up' });
    const sent = await muster('send', '{ "text": "It was a long day, and nothing happened." }', '--agent', 'summarize');
    expect(sent).toEqual({ code: 0, shown: expect.stringContaining('"summary": "A dull day."') });
    const refused = await muster('send', '{ "text": 1 }', '--agent', 'summarize');
    expect(refused).toEqual({ code: 2, shown: expect.stringContaining('input.text: Invalid input: expected string, received number') });
    const ended = once(fleet, 'exit');
    fleet.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
});

interface Overlay {
  resources: string[];
  images: { name: string; newName: string; newTag: string }[];
  configMapGenerator: { name: string; behavior: string; literals: string[] }[];
  patches: { target: { kind: string; name: string }; patch: string }[];
}

describe('what a project is deployed by', () => {
  it('its overlay is of a base that the package has, and changes what is there', () => {
    const { resources, images, configMapGenerator, patches, ...more } = parse(read('k8s/kustomization.yaml')) as Overlay;
    expect(more).toEqual({ apiVersion: 'kustomize.config.k8s.io/v1beta1', kind: 'Kustomization' });
    const [base = ''] = resources;
    const there = parse(read(join('k8s', base, 'kustomization.yaml'))) as Overlay & { images: { name: string }[] };
    expect(images.map(({ name }) => name)).toEqual(there.images.map(({ name }) => name));
    expect(configMapGenerator.map(({ name, behavior }) => [name, behavior])).toEqual([[there.configMapGenerator[0]?.name, 'merge']]);
    const known = Object.keys(environmentSchema.shape);
    const set = configMapGenerator[0]?.literals.map((literal) => literal.split('=')[0] ?? '') ?? [];
    expect(set.filter((name) => !known.includes(name))).toEqual([]);
    const ingress = parse(read(join('k8s', base, 'ingress.yaml'))) as {
      kind: string;
      metadata: { name: string };
      spec: { rules: object[] };
    };
    expect(patches.map(({ target }) => target)).toEqual([{ kind: ingress.kind, name: ingress.metadata.name }]);
    expect(ingress.spec.rules[0]).toHaveProperty('host');
  });

  it('compose and its image name variables and files that the fleet has', () => {
    const { services } = parse(read('compose.yml')) as { services: { fleet: { environment: object; command: string[] } } };
    const known = new Set([...Object.keys(environmentSchema.shape), 'REDIS_URL']);
    expect(Object.keys(services.fleet.environment).filter((name) => !known.has(name))).toEqual([]);
    expect(existsSync(join(packed.package, services.fleet.command[1] ?? ''))).toBe(true);
    expect(readFileSync(join(ROOT, '.dockerignore'), 'utf8')).not.toMatch(/^services\/(?:local|cli)$/m);
    expect(read('Dockerfile')).toMatch(/^ENV MUSTER_CONFIG=\/project\/muster\.config\.ts$/m);
  });

  it.runIf(hasFleetImage())('its image runs the fleet with its agents', async () => {
    const tag = `muster-own-${process.pid}`;
    onTestFinished(() => void execFileSync('docker', ['rmi', '--force', tag], { stdio: 'ignore' }));
    // As `npm install ai` leaves it.
    const manifest = JSON.parse(read('package.json')) as { dependencies: Record<string, string> };
    manifest.dependencies['ai'] = '7';
    writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
    rmSync(join(project, 'node_modules'), { recursive: true });
    const built = await run('docker', ['build', '--network', 'host', '--build-arg', `FLEET_IMAGE=${FLEET_IMAGE}`, '-t', tag, '.'], project);
    expect(built).toEqual({ code: 0, shown: built.shown });
    const load = `import { loadConfig } from '#shared/config/index.ts'; console.log(Object.keys((await loadConfig()).settings.agents).join());`;
    const ran = await run('docker', ['run', '--rm', tag, 'node', '--input-type=module', '--eval', load], project);
    expect(ran).toEqual({ code: 0, shown: expect.stringContaining('triage,summarize') });
    // All that the fleet is made of is there: it gets as far as what is wrong.
    const started = await run('docker', ['run', '--rm', '-e', 'PORT=none', tag, 'node', 'services/local/main.js'], project);
    expect(started).toEqual({ code: 78, shown: expect.stringContaining('PORT: expected a port') });
  });
});

/** Whether a Docker engine answers that has the fleet's image. */
function hasFleetImage(): boolean {
  try {
    execFileSync('docker', ['image', 'inspect', FLEET_IMAGE], { stdio: 'ignore', timeout: 5000 });
    return true;
  } catch {
    return false;
  }
}
