import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const built = fileURLToPath(new URL('../../../services/dashboard/dist', import.meta.url));
const builder = new URL('../../../services/local/set-up/build-console.mjs', import.meta.url).href;

/** Builds the console unless it is up to date. Resolves to its folder. */
export async function builtConsole(): Promise<string> {
  const { buildConsole } = (await import(builder)) as { buildConsole: (root: string) => Promise<void> };
  await buildConsole(root);
  return built;
}
