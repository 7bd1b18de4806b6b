import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { TRANSITIONS } from '#shared/tasks/transitions.ts';
import { choreRows } from './chore-table.ts';
import { keyLines } from './key-table.ts';
import { readPage, ROOT } from './markdown.ts';

const page = readPage('docs/architecture.md');
const section = (title: string): string => page.split(/^## /m).find((text) => text.startsWith(`${title}\n`)) ?? '';
const foldersOf = (path: string): string[] =>
  readdirSync(join(ROOT, path), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

it('the picture of states has the transitions of the table, and no other', () => {
  const drawn = [...section('States of a task').matchAll(/^ {2}(\[\*\]|\w+) --> (\w+)/gm)].map(([, from = '', to = '']) => `${from} ${to}`);
  const real = Object.entries(TRANSITIONS).flatMap(([from, next]) =>
    Object.keys(next).map((to) => `${from === 'new' ? '[*]' : from} ${to}`),
  );
  expect(drawn.toSorted()).toEqual(real.toSorted());
});

it('the house has every service and every module of shared', () => {
  const house = section('The house');
  const listed = [...house.matchAll(/^\| \[(\w+)\]\(\.\.\/shared\/\w+\)/gm)].map(([, name = '']) => name);
  expect(listed.toSorted()).toEqual(foldersOf('shared').toSorted());
  const drawn = /direction LR\n([^]*?)\n {2}end/
    .exec(house)?.[1]
    ?.split(';')
    .map((name) => name.trim());
  expect(drawn?.toSorted()).toEqual(foldersOf('services').toSorted());
});

it('the order of modules is the one that the imports keep', () => {
  const rules = readFileSync(join(ROOT, 'test/architecture/import-rules.ts'), 'utf8');
  const order = /SHARED_ORDER = \[([^\]]*)\]/
    .exec(rules)?.[1]
    ?.match(/\w+/g)
    ?.filter((name) => existsSync(join(ROOT, 'shared', name)));
  const drawn = /^ {4}(lifecycle .*)$/m.exec(section('The house'))?.[1]?.split(' --> ');
  expect(drawn).toEqual(order?.toReversed());
});

it('the key map says of every key what the code says', () => {
  const lines = keyLines();
  expect(lines.length).toBeGreaterThan(50);
  expect(
    section('Keys')
      .split('\n')
      .filter((line) => /^(?:\| `|### )/.test(line)),
  ).toEqual(lines);
});

it('the files of each flow are there', () => {
  const files = [...section('Flows').matchAll(/\]\(\.\.\/([\w/.-]+\.(?:ts|lua))\)/g)].map(([, path = '']) => path);
  expect(files.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});

it('every chore of the list has its line', () => {
  expect(
    section('Chores')
      .split('\n')
      .filter((line) => line.startsWith('| `')),
  ).toEqual(choreRows());
});
