import { execa } from 'execa';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '../../..');

/** What the oldest places that run the client have: ES2023 and what browsers give, and nothing of Node. */
const OPTIONS = ['--lib', 'es2023,dom,dom.iterable', '--target', 'es2022', '--module', 'nodenext', '--types', ''];
const STRICT = ['--strict', '--exactOptionalPropertyTypes', '--noUncheckedIndexedAccess', '--allowImportingTsExtensions', '--noEmit'];

it('the client compiles for a browser, without the types of Node', async () => {
  const files = [join(ROOT, 'shared/client/index.ts')];
  const compiled = await execa(join(ROOT, 'node_modules/.bin/tsc'), ['--ignoreConfig', ...OPTIONS, ...STRICT, ...files], { reject: false });
  expect(compiled.stdout).toBe('');
  expect(compiled.exitCode).toBe(0);
});
