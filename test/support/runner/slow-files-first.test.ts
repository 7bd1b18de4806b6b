import { globSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SLOW } from './slow-files-first.ts';

it('each of the slow files that start first is there', () => {
  const files = globSync('test/**/*.test.ts', { cwd: `${import.meta.dirname}/../../..` });
  expect(SLOW.filter((name) => !files.some((file) => file.endsWith(`/${name}.test.ts`)))).toEqual([]);
});
