import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const builder = new URL('../../../services/local/set-up/build-pages.mjs', import.meta.url).href;
type Builder = Record<'buildConsole' | 'buildGuide', (root: string) => Promise<void>>;

/** Builds the console unless it is up to date. Resolves to its folder. */
export async function builtConsole(): Promise<string> {
  const { buildConsole } = (await import(builder)) as Builder;
  await buildConsole(root);
  return join(root, 'services/dashboard/dist');
}

/** Builds the guide unless it is up to date. Resolves to its folder. */
export async function builtGuide(): Promise<string> {
  const { buildGuide } = (await import(builder)) as Builder;
  await buildGuide(root);
  return join(root, 'services/dashboard/guide/dist');
}
