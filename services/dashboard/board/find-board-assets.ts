import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const ASSET = /(?:src|href)="(static\/[^"]+\.(?:js|css))"/g;

export interface BoardAssets {
  /** The folder of Bull Board's user interface. */
  directory: string;
  /** Scripts and styles its page loads, in their order. */
  assets: string[];
}

/** Finds what Bull Board's page loads; the names hold digests that differ from version to version. */
export function findBoardAssets(): BoardAssets {
  const directory = dirname(createRequire(import.meta.url).resolve('@bull-board/ui/package.json'));
  const template = readFileSync(join(directory, 'dist', 'index.ejs'), 'utf8');
  const assets = [...template.matchAll(ASSET)].map(([, path = '']) => path);
  if (assets.length === 0) throw new Error('The page of @bull-board/ui names no scripts; its layout has changed');
  return { directory, assets };
}
