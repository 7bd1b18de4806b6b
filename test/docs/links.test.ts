import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, it } from 'vitest';
import { listPages, readPage, ROOT } from './markdown.ts';

const LINK = /\]\(([^)\s]+)\)/g;

/** As GitHub makes the anchor of a heading. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{Letter}\p{Number}\s-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');
}

function anchorsOf(page: string): string[] {
  const withoutCode = readPage(page).replaceAll(/^```[^]*?^```$/gm, '');
  return [...withoutCode.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
}

it.each(listPages())('every link of %s leads somewhere', (page) => {
  const broken = [...readPage(page).matchAll(LINK)]
    .map(([, target = '']) => target)
    .filter((target) => !/^(https?|mailto):/.test(target))
    .filter((target) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : normalize(join(dirname(page), path));
      if (!existsSync(join(ROOT, file))) return true;
      return anchor !== undefined && file.endsWith('.md') && !anchorsOf(file).includes(anchor);
    });
  expect(broken).toEqual([]);
});
