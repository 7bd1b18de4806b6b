import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { afterAll, describe, expect, it, vi } from 'vitest';

// Generators and the compiler are programs of their own, which take as long as the machine lets them.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 60_000 });

const root = process.cwd();
const bin = join(root, 'node_modules/.bin');
// Inside of the repository, so that a client finds its runtime.
const caches = join(root, 'node_modules/.cache');
await mkdir(caches, { recursive: true });
const folder = await mkdtemp(join(caches, 'openapi-'));
afterAll(() => rm(folder, { recursive: true }));
await copyFile('docs/openapi.json', join(folder, 'openapi.json'));

const OPTIONS = ['--ignoreConfig', '--noEmit', '--strict', '--target', 'esnext', '--module', 'nodenext', '--types', 'node'];
/** What a user may choose beyond `--strict`. */
const STRICTEST = [
  '--exactOptionalPropertyTypes',
  '--noUncheckedIndexedAccess',
  '--noImplicitOverride',
  '--noPropertyAccessFromIndexSignature',
];

/** Right calls, and wrong ones that the compiler has to refuse. */
const CALLS = `
import createClient from 'openapi-fetch';
import type { components, paths, TaskStatus } from './types.ts';

const api = createClient<paths>();
const made = await api.POST('/v1/tasks', { body: { agent: 'echo', input: 'hello' }, headers: { 'Idempotency-Key': 'a' } });
export const place: number | undefined = made.response.status === 202 && made.data && 'position' in made.data ? made.data.position : undefined;
const read = await api.GET('/v1/tasks/{id}', { params: { path: { id: 'a' } } });
export const status: TaskStatus | undefined = read.data?.status;
export const output: string | null | undefined = read.data?.output;
export const code: components['schemas']['Problem']['code'] | undefined = read.error?.code;
// @ts-expect-error: there is no such path.
await api.GET('/v1/nothing');
// @ts-expect-error: a task needs an agent.
await api.POST('/v1/tasks', { body: { input: 'hello' } });
// @ts-expect-error: an answer has no such field.
read.data?.nothing;
`;

/** What the compiler says against a file; nothing when it compiles. */
async function complaints(file: string, ...options: string[]): Promise<string> {
  const { stdout, stderr, exitCode } = await execa(join(bin, 'tsc'), [...OPTIONS, ...options, file], { cwd: folder, reject: false });
  return exitCode === 0 ? '' : `${stdout}${stderr}` || `exit code ${exitCode}`;
}

describe('a client that is generated from the document', () => {
  it.each([
    { generator: 'oazapfts', args: ['openapi.json', 'oazapfts.ts'] },
    { generator: 'orval', args: ['--input', './openapi.json', '--output', './orval.ts', '--client', 'fetch'] },
  ])('by $generator compiles', async ({ generator, args }) => {
    await execa(join(bin, generator), args, { cwd: folder });
    expect(await complaints(`${generator}.ts`, '--skipLibCheck')).toBe('');
  });

  it('by openapi-typescript compiles without skipped checks, and refuses wrong calls', async () => {
    await copyFile('shared/client/openapi.gen.ts', join(folder, 'types.ts'));
    await writeFile(join(folder, 'calls.ts'), CALLS);
    expect(await complaints('calls.ts', '--allowImportingTsExtensions', ...STRICTEST)).toBe('');
  });
});
