import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './markdown.ts';

/** Packages that pages import besides. */
const PACKAGES = ['ai', 'bullmq', 'openai', 'zod'];

/** Makes `muster-fleet` and what programs of pages use besides importable in a folder, from the sources, as an install would. */
export function linkPackage(folder: string): void {
  const modules = join(folder, 'node_modules');
  const fleet = join(modules, 'muster-fleet');
  if (existsSync(fleet)) return;
  mkdirSync(fleet, { recursive: true });
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { exports: Record<string, string> };
  const manifest = { name: 'muster-fleet', type: 'module', exports: { ...exports, '.': exports['./config'] } };
  writeFileSync(join(fleet, 'package.json'), JSON.stringify(manifest));
  symlinkSync(join(ROOT, 'shared'), join(fleet, 'shared'));
  for (const name of PACKAGES) symlinkSync(join(ROOT, 'node_modules', name), join(modules, name));
}
