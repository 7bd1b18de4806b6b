import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ERROR_CODES } from '#shared/errors/error-codes.ts';
import { FAILURE_CODES, routeOfFailure } from '#shared/errors/task-failure.ts';
import { inRepository, read } from '../deploy/repository.ts';

const CODES = Object.entries(ERROR_CODES);
const FAILURES = Object.entries(FAILURE_CODES);

/** What the hub answers messages of daemons with. */
const MESSAGE_CODES = new Set(
  ['services/hub', 'shared/daemons'].flatMap((folder) =>
    readdirSync(inRepository(folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .flatMap((file) => [...read(`${folder}/${file}`).matchAll(/'(message\.[a-z-]+)'/g)].map(([, code = '']) => code)),
  ),
);

/** Refusals that end by themselves: a limit, a process or a Redis that is away, a body that did not arrive. */
const PASSING = new Set([408, 429, 503]);

test.each(CODES)('the code %s is in the documentation with its status and whether to try again', (code, { status, retry, title }) => {
  expect(read('docs/errors.md')).toContain(`| \`${code}\` | ${status} | ${retry} | ${title} |\n`);
});

test('the documentation lists no other code', () => {
  expect(read('docs/errors.md').match(/^\| `/gm)).toHaveLength(CODES.length + FAILURES.length + MESSAGE_CODES.size);
});

const listedIn = (path: string): string[] => [...read(path).matchAll(/^\| `(message\.[a-z-]+)` \|/gm)].map(([, code = '']) => code);

test('the codes of the hub’s messages are in the documentation and in the protocol, as the sources have them', () => {
  expect(MESSAGE_CODES.size).toBeGreaterThan(0);
  for (const path of ['docs/errors.md', 'services/hub/README.md']) expect(listedIn(path).toSorted()).toEqual([...MESSAGE_CODES].toSorted());
});

test.each(CODES)('the code %s says "later" exactly for what ends by itself', (code, { status, retry }) => {
  expect(retry).toBe(PASSING.has(status) || code.endsWith('.busy') ? 'later' : 'never');
});

test.each(FAILURES)('the failure %s is in the documentation with its class and what follows', (code, { class: failureClass, title }) => {
  expect(read('docs/errors.md')).toContain(`| \`${code}\` | ${failureClass} | ${routeOfFailure(code)} | ${title} |\n`);
});
